"""A store behind an HTTP interface: what every service has in common.

Nothing counts as done because the service said so: each change is read back. What the service decides
itself (ids, dates) is said beforehand (`Inventory.fidelity`). Every change makes a record look new to such a
service; so each change of ours notes the dates as they were, in the record's metadata, and they count while
its text stays the same. A request whose answer was lost may have been carried out; so one that must not be
carried out twice comes with a way to look whether it was (`instead`), and is repeated only if it was not.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from ....errors import ConfigError, DreamError, RefusedChangeError, StoreError, UnreadableError
from ....models.http import failure_of, received
from ....records import Memory, Scope, as_utc, says_pinned, text_hash
from .. import base
from ..base import Capabilities, ScopeFilter, Snapshot, Store, refuse_moved
from ..mem0.rows import SCOPE_KEYS, last_day, parse_memory, scope_of

if TYPE_CHECKING:
    import httpx

Answer = TypeVar("Answer")
Row = Mapping[str, Any]
Listed = tuple[Iterable[Row], frozenset[str], tuple[str, ...]]
"""Records, expired ones included; ids of those that others rest on; why it is not provably complete."""

# Metadata keys: of dates that a change of ours would make a server forget; of the former id of a memory that
# was brought back; of the name of the change that added it, since such a service chooses the id itself.
DATES_KEY, RESTORED_KEY, MARK_KEY = "mem0_dream_dates", "mem0_dream_restores", "mem0_dream_mark"
_NOTES = frozenset({DATES_KEY, RESTORED_KEY, MARK_KEY})
_LEFT_ALONE = ("immutable", "replaced_by", "synthesized")
_PAST = frozenset({"superseded", "merged", "archived", "deleted"})
_SEARCH_BOUNDS = (20, 1000)
_REDIRECTS = 5  # that are followed, within one origin
NULL = "null"  # an answer without anything in it, which is not yet that something is gone
_QUERY_CHARACTERS = 2_000  # more of a text says nothing more to a search


@dataclass(frozen=True, slots=True)
class Patience:
    """How long and how often a service is asked."""

    attempts: int = 7  # requests for one answer, the first included
    first_wait: float = 1.0  # seconds before the second attempt; it doubles with each further one
    longest_wait: float = 60.0  # seconds that no pause of our own exceeds
    per_minute: float = 600  # requests a minute at most; the hosted platform publishes 1000 additions
    looks: int = 7  # how often a change is looked for before it counts as not made
    timeout: float = 60.0  # seconds for one answer


@dataclass
class Caller:
    """Makes requests of one service, named as a sentence may, one after the other."""

    service: str
    patience: Patience = Patience()
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    jitter: Callable[[], float] = random.random
    _next: float = 0.0

    def ask(
        self, what: str, request: Callable[[], Answer], *, instead: Callable[[], Answer | None] = lambda: None
    ) -> Answer:
        """Make a request until it is answered; `what` names it as a sentence may: "listing memories".

        Before each repetition `instead` gives the answer if an earlier attempt was carried out after all.
        `ConfigError` if the key is refused, `StoreError` if the request is or nothing answers.
        """
        from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt

        tries = 0

        def _attempt() -> Answer:
            nonlocal tries
            tries += 1
            if tries > 1 and (answer := instead()) is not None:
                return answer
            now = self.clock()
            if now < self._next:
                self.sleep(self._next - now)
            self._next = max(self._next, now) + 60 / self.patience.per_minute
            return request()

        def wait(state: RetryCallState) -> float:
            doubled = self.patience.first_wait * 2.0 ** (state.attempt_number - 1)
            spread = min(self.patience.longest_wait, doubled) * (0.5 + self.jitter() / 2)
            error = state.outcome.exception() if state.outcome else None
            asked = failure_of(error).after if error is not None else None
            return spread if asked is None else asked + spread / 10

        retrying = Retrying(
            stop=stop_after_attempt(self.patience.attempts),
            retry=retry_if_exception(lambda error: failure_of(error).passing),
            wait=wait,
            sleep=self.sleep,
            reraise=True,
        )
        try:
            return retrying(_attempt)
        except DreamError:
            raise
        except Exception as error:
            failure = failure_of(error)
            if failure.status in (401, 403):
                raise ConfigError(
                    f"{self.service} refuses the key ({failure.words}) for {what}; check the key."
                ) from error
            times = f" after {tries} attempts" if tries > 1 else ""
            raise StoreError(f"{self.service} did not answer {what}{times}: {failure.words}.") from error

    def look(self, probe: Callable[[], Answer], *, until: Callable[[Answer], bool]) -> Answer:
        """Probe until the answer is as wanted, a few times: a change may take a moment to show."""
        for number in range(self.patience.looks):
            answer = probe()
            if until(answer) or number + 1 == self.patience.looks:
                break
            self.sleep(min(self.patience.first_wait / 4 * 2**number, self.patience.longest_wait))
        return answer


class RemoteStore(Store):
    """Memories behind an HTTP interface; a service brings its paths, and what is declared without a value."""

    capabilities = Capabilities(retire=True, in_place=True, amend=True)
    scope_keys: tuple[str, ...]  # the ids by which the service scopes memories
    record_path: str  # of one record, by its id
    search_path: str
    null_is_gone = False  # whether the service says null, instead of 404, of a record that is not there
    _listing: Callable[[Mapping[str, str]], Listed]  # of every record that holds these ids
    # Records of which a metadata key holds one of the values, in a scope.
    _marked: Callable[[str, Sequence[str], Mapping[str, str]], list[Row]]
    # Write a record, with its last day, once; None if it is dropped, or nothing is said of it.
    _post: Callable[[base.Add, str | None], str | None]
    # The filter of a search for what holds these ids.
    _wanted: Callable[[Mapping[str, str]], Mapping[str, Any]]
    # Why deleting this record would do more than that, if it would.
    _refuses_deletion: Callable[[Row], str | None]

    def __init__(self, client: httpx.Client, caller: Caller, fingerprint: str, *, owned: bool = True) -> None:
        self._client, self._caller, self.fingerprint, self._owned = client, caller, fingerprint, owned

    def close(self) -> None:
        """Close the connections, if they were opened here."""
        if self._owned:
            self._client.close()

    def _ask(self, what: str, method: str, path: str, *, missing_ok: bool = False, **request: Any) -> Any:
        """Make a request until it is answered; None if the service says 404 and that is an answer."""
        return self._caller.ask(what, lambda: self._once(method, path, missing_ok=missing_ok, **request))

    def _once(self, method: str, path: str, *, missing_ok: bool = False, **request: Any) -> Any:
        response = self._followed(self._received(self._client.build_request(method, path, **request)))
        if missing_ok and response.status_code == 404:
            if response.headers.get("content-type", "").startswith("application/json"):
                return None
            raise StoreError(f"{self._caller.service} was not reached: an answer without content said 404.")
        response.raise_for_status()
        answer = response.json()
        return NULL if answer is None else answer

    def _followed(self, response: httpx.Response) -> httpx.Response:
        """The answer at the end of redirects; `StoreError` before the key goes to another origin."""
        for _ in range(_REDIRECTS):
            if (further := response.next_request) is None:
                break
            here, there = ((url.scheme, url.host, url.port) for url in (response.request.url, further.url))
            if here != there:
                place = f"{further.url.scheme}://{further.url.netloc.decode()}"
                told = f"{self._caller.service} sends its callers on to {place}; the key is not sent there."
                raise StoreError(f"{told} Give that address if it is the right one.")
            response = self._received(further)
        return response

    def _received(self, request: httpx.Request) -> httpx.Response:
        return received(self._client, request, seconds=self._caller.patience.timeout)

    def _read(self, what: str, fits: Callable[[Any], bool], *request: Any, **more: Any) -> Any:
        """What a request about one memory gives; asked again if it does not fit, then `UnreadableError`."""
        odd: list[Any] = []
        for _ in range(2):
            if fits(answer := self._ask(what, *request, **more)):
                return answer
            odd.append(answer)
        if self.null_is_gone and odd == [NULL, NULL]:
            return None
        raise UnreadableError(f"the {self.kind}'s answer to {what} has another form than expected")

    def _misshapen(self, what: str) -> StoreError:
        return StoreError(f"The {self.kind}'s {what} has another form than expected; nothing was changed.")

    def _get(self, memory_id: str) -> Row | None:
        """One record, under the id that was asked for; None only if the service says that there is none."""

        def fits(row: Any) -> bool:
            return row is None or (
                isinstance(row, Mapping) and "memory" in row and row.get("id") == memory_id
            )

        what, path = f"reading memory {memory_id}", self._path(memory_id)
        row: Row | None = self._read(what, fits, "GET", path, missing_ok=True)
        return row

    def _put(self, memory_id: str, changes: Mapping[str, Any]) -> None:
        self._ask(f"changing memory {memory_id}", "PUT", self._path(memory_id), json=dict(changes))

    def _drop(self, memory_id: str) -> None:
        """Delete one record and nothing else; an earlier attempt may have done it."""
        self._ask(f"deleting memory {memory_id}", "DELETE", self._path(memory_id), missing_ok=True)

    def _search(self, query: str, ids: Mapping[str, str], bound: int) -> list[str]:
        content = {"query": query, "filters": self._wanted(ids), "top_k": bound, "threshold": 0.0}
        answer = self._read("searching", lists_rows, "POST", self.search_path, json=content)
        return [str(row["id"]) for row in answer["results"]]

    def _path(self, memory_id: str) -> str:
        return self.record_path.format(quote(memory_id, safe=""))

    def _listed(self, scopes: ScopeFilter) -> tuple[Iterable[Memory], Iterable[str]]:
        rows, held, gaps = self._listing(scopes.known(self.scope_keys, self.kind))
        return (memory_of(row, held=str(row["id"]) in held) for row in rows), gaps

    def fetch(self, ids: Sequence[str]) -> dict[str, Snapshot]:
        """Read the given records afresh; one that an undo brought back is found under its former id."""
        rows = {memory_id: self._get(memory_id) for memory_id in dict.fromkeys(ids)}
        missing = [memory_id for memory_id, row in rows.items() if row is None]
        for row in self._marked(RESTORED_KEY, missing, {}) if missing else ():
            rows[str(row_metadata(row)[RESTORED_KEY])] = row
        return {memory_id: Snapshot(memory_id, dict(row)) for memory_id, row in rows.items() if row}

    def parse(self, snapshot: Snapshot) -> Memory:
        """Turn a raw record into a memory."""
        return memory_of({**snapshot.payload, "id": snapshot.id})

    def find_mark(self, mark: str, scope: Scope) -> str | None:
        """Id of the memory that was added with this mark, if there is one."""
        rows = self._marked(MARK_KEY, [mark], self._session_ids(dict(scope.ids)))
        own = dict(scope_of(dict(scope.ids)).ids)
        return min((str(row["id"]) for row in rows if ids_of(row) == own), default=None)

    def finds(self, memory_id: str) -> bool:
        """Whether a search in its scope for the memory's own text returns it."""
        row = self._get(memory_id)
        text = str(row.get("memory") or "").strip() if row else ""
        if row is None or not text or memory_of(row).is_retired(datetime.now(UTC).date()):
            return False
        asked = text[:_QUERY_CHARACTERS], self._session_ids(ids_of(row))
        return self._caller.look(
            lambda: any(memory_id in self._search(*asked, bound) for bound in _SEARCH_BOUNDS), until=bool
        )

    def _session_ids(self, ids: Mapping[str, str]) -> dict[str, str]:
        return {key: value for key, value in ids.items() if key in self.scope_keys}

    def _existing(self, memory_id: str) -> Row:
        row = self._get(memory_id)
        if row is None:
            raise StoreError(f"Memory {memory_id} is not in the store.", ids=(memory_id,))
        return row

    def _add(self, change: base.Add) -> str:
        note = dates_note(change.text, created=change.created_at, updated=None)
        metadata = {**change.metadata, MARK_KEY: change.mark, DATES_KEY: note}
        added = self._written(replace(change, metadata=metadata), MARK_KEY)
        if added is None:
            told = "the service drops a text that it holds already, so the memory that states it must stay"
            raise RefusedChangeError(told)
        if str(self._existing(added).get("memory")) != change.text:
            raise _not_kept(added)
        return added

    def _written(self, new: base.Add, key: str, day: str | None = None) -> str | None:
        """Add a record, marked by this key, once, however often it is asked for; None if it is dropped."""
        ids = self._session_ids(dict(new.scope.ids))

        def earlier() -> list[str]:
            return sorted(str(row["id"]) for row in self._marked(key, [new.metadata[key]], ids))

        added = self._caller.ask(
            "adding a memory", lambda: self._post(new, day), instead=lambda: next(iter(earlier()), None)
        )
        if added is not None:
            return added
        copies = earlier()
        for copy in copies[1:]:  # it was delivered twice
            self._drop(copy)
        return next(iter(copies), None)

    def _delete(self, change: base.Delete) -> str:
        memory_id = change.id
        if (row := self._get(memory_id)) is None:
            return memory_id
        refuse_moved(memory_of(row), change.was)
        if reason := self._refuses_deletion(row):
            raise RefusedChangeError(reason, ids=(memory_id,))
        self._drop(memory_id)
        left = self._caller.look(lambda: self._get(memory_id), until=lambda present: present is None)
        if left is not None:
            told = f"The service reports memory {memory_id} as deleted, but it is still there."
            raise StoreError(told, ids=(memory_id,))
        return memory_id

    def _update(self, change: base.Update) -> str:
        return self._amend(base.Amend(change.id, {}, was=change.was), text=change.text)

    def _refuse_moved(self, memory_id: str, was: str) -> None:
        """Each change looks itself, at the record that it reads last."""

    def _amend(self, change: base.Amend, *, text: str | None = None) -> str:
        """Change a record; what was stated before is not stated anew by that."""
        row = self._existing(change.id)
        memory = memory_of(row)
        refuse_moved(memory, change.was)
        said, since = memory.text if text is None else text, change.created_at or memory.created_at
        note = dates_note(said, created=since, updated=memory.updated_at)
        wanted: dict[str, Any] = {"metadata": {**row_metadata(row), **change.metadata, DATES_KEY: note}}
        wanted |= {} if text is None else {"text": text}
        wanted |= {} if change.expires is None else {"expiration_date": change.expires or None}
        return self._settle(row, wanted)

    def _restore(self, change: base.Restore) -> str:
        """Give a record its former content; under a new id where it was deleted."""
        snapshot = change.snapshot
        row = self._get(snapshot.id)
        if row is None:  # or is it what an undo that was killed had put in its place?
            ids = self._session_ids(ids_of(snapshot.payload))
            row = next(iter(self._marked(RESTORED_KEY, [snapshot.id], ids)), None)
        if row is None:
            row = self._existing(self._bring_back(snapshot))
        elif not row_metadata(row).get(RESTORED_KEY):
            refuse_moved(memory_of(row), change.was)
        memory, renamed = self.parse(snapshot), str(row["id"]) != snapshot.id
        wanted = {"text": memory.text, "expiration_date": day_of(snapshot.payload)}
        metadata = _restored_metadata(snapshot, memory, renamed=renamed)
        return self._settle(row, {**wanted, "metadata": metadata})

    def _bring_back(self, snapshot: Snapshot) -> str:
        memory = self.parse(snapshot)
        metadata = _restored_metadata(snapshot, memory)
        # Where the service holds an equal text it drops this one; so it comes with other words first.
        for words in ("", _moment_words(snapshot.id)):
            new = base.Add(memory.text + words, memory.scope, metadata, memory.created_at, mark="")
            added = self._written(new, RESTORED_KEY, day_of(snapshot.payload))
            if added is not None:
                return added
        told = f"the service holds the text of memory {snapshot.id} already and takes no copy of it"
        raise RefusedChangeError(told, ids=(snapshot.id,))

    def _settle(self, row: Row, wanted: Mapping[str, Any]) -> str:
        """Change a record until it reads as wanted; its id."""
        memory_id = str(row["id"])
        for _ in range(2):  # a service that only adds keys keeps one until it is told to empty it
            changes = {key: wanted[key] for key in _differing(row, wanted)}
            if not changes:
                break
            if "metadata" in changes:
                gone = row_metadata(row).keys() - wanted["metadata"].keys()
                changes["metadata"] = wanted["metadata"] | dict.fromkeys(gone)
            self._put(memory_id, changes)
            row = self._caller.look(
                lambda: self._get(memory_id) or {}, until=lambda now: not _differing(now, wanted)
            )
        if _differing(row, wanted):
            raise _not_kept(memory_id)
        return memory_id


def _restored_metadata(snapshot: Snapshot, memory: Memory, *, renamed: bool = True) -> dict[str, Any]:
    """The metadata as it was, with the dates the server would forget, and the former id of a new record."""
    note = dates_note(memory.text, created=memory.created_at, updated=memory.updated_at)
    former = {RESTORED_KEY: snapshot.id} if renamed else {}
    return row_metadata(snapshot.payload) | {DATES_KEY: note} | former


def lists_rows(answer: Any) -> bool:
    """Whether an answer lists records, each with an id."""
    rows = answer.get("results") if isinstance(answer, Mapping) else None
    return isinstance(rows, list) and all(isinstance(row, Mapping) and "id" in row for row in rows)


def _differing(row: Row, wanted: Mapping[str, Any]) -> list[str]:
    filled = {key: value for key, value in wanted.get("metadata", {}).items() if value is not None}
    held = {"text": row.get("memory"), "metadata": row_metadata(row), "expiration_date": day_of(row)}
    return [key for key in wanted if held[key] != (filled if key == "metadata" else wanted[key])]


def _not_kept(memory_id: str) -> StoreError:
    return StoreError(f"The service did not keep memory {memory_id} as written.", ids=(memory_id,))


def memory_of(row: Row, *, held: bool = False) -> Memory:
    """Turn a record into a memory."""
    held_with_it = row_metadata(row)
    told = {key: value for key, value in held_with_it.items() if key not in _NOTES}
    noted = held_with_it.get(DATES_KEY)
    # A copy that an undo is bringing back has other words for a moment.
    text = str(row.get("memory") or "").removesuffix(_moment_words(held_with_it.get(RESTORED_KEY)))
    whole = {
        "categories": row.get("categories"),
        **{key: value for key, value in told.items() if key not in SCOPE_KEYS},
        **ids_of(row),
        "data": text,
        "created_at": row.get("created_at"),
        "updated_at": row.get("updated_at"),
        "expiration_date": row.get("expiration_date"),
    }
    if isinstance(noted, Mapping):
        whole["created_at"] = noted.get("created") or whole["created_at"]
        if noted.get("text") == _digest(text):
            whole["updated_at"] = noted.get("updated") or whole["updated_at"]
    memory = parse_memory(Snapshot(str(row.get("id")), whole))
    alone = any(row.get(key) for key in _LEFT_ALONE) or row.get("lifecycle_state") in _PAST
    pinned = held or alone or memory.pinned or says_pinned(text)
    return replace(memory, pinned=pinned, metadata=told)


def _moment_words(memory_id: object) -> str:
    """What is added to a text that the service would drop, until it is written."""
    return f" (mem0-dream restores {memory_id})" if memory_id else ""


def row_metadata(row: Row) -> dict[str, Any]:
    """A record's metadata without keys that hold nothing: a key that cannot be removed is emptied."""
    metadata = row.get("metadata")
    if not isinstance(metadata, Mapping):
        return {}
    return {key: value for key, value in metadata.items() if value is not None}


def ids_of(row: Row) -> dict[str, str]:
    """The ids of a record's scope; a listing calls the run `session_id`, a search `run_id`."""
    ids = {key: row.get(key) for key in SCOPE_KEYS}
    ids["run_id"] = row.get("run_id") or row.get("session_id")
    if "app_id" not in row:  # mem0's own server has no field for it, and shows it with the metadata
        ids["app_id"] = row_metadata(row).get("app_id")
    return dict(scope_of({key: value for key, value in ids.items() if value}).ids)


def dates_note(text: str, *, created: datetime | None, updated: datetime | None) -> dict[str, Any]:
    """The dates of a memory as its metadata keeps them; the second counts only for this text."""
    note: dict[str, Any] = {"text": _digest(text)}
    note |= {"created": as_utc(created).isoformat()} if created else {}
    return note | ({"updated": as_utc(updated).isoformat()} if updated else {})


def day_of(row: Row) -> str | None:
    """The last day of a record as ISO date; None if it has none, or a bad one."""
    day = last_day(str(row.get("expiration_date"))[:10])
    return day.isoformat() if day else None


def _digest(text: str) -> str:
    return text_hash(text)[:16]
