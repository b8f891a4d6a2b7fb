"""What an application calls: a whole pass over a store, and a mem0 client that checks before it stores."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Concatenate, Literal, ParamSpec

from ..errors import StoreLockedError, UsageError
from ..models.encoder import Encoder
from ..models.scorer import PairScorer
from ..records import Scope
from ..settings import Settings
from .answers import Answer, Say
from .engine import SCOPE_IDS, Session, scope_filter
from .judging.cache import Models
from .judging.check import Checked, Finding, Known
from .judging.inventory import Judging
from .plan import Plan, RunResult, Side
from .planning.drafts import conflict_of_pair, with_rests
from .reporting.pair import check_json
from .stores import open_store, store_over
from .stores.base import Store

P = ParamSpec("P")
logger = logging.getLogger(__name__)
PATIENCE_S = 5.0  # to wait for a pass over the store before a contradiction is only noted


@dataclass(frozen=True, slots=True)
class Consolidation:
    """What a pass proposed, and what was done about it."""

    plan: Plan
    result: RunResult | None = None  # what was applied, and what was held back; None after a dry run


def consolidate(
    store: Store,
    *,
    user_id: str | None = None,
    agent_id: str | None = None,
    run_id: str | None = None,
    app_id: str | None = None,
    all_scopes: bool = False,
    apply: bool = False,
    retire: bool | None = None,
    settings: Settings | None = None,
    state_dir: Path | str | None = None,
    now: datetime | None = None,
) -> Consolidation:
    """Consolidate a store: what `mem0-dream` does, in one call; the store is left open.

    Only the memories of this user, agent, run or app are looked at, or with `all_scopes` all, each scope for
    itself. Without `apply` nothing is changed. With it merges and prunes are applied as `--auto` does, and
    contradictions are left to a person. `retire` expires instead of deleting, by default only what lost a
    conflict; `settings` are those of the store's own configuration if omitted; ages are reckoned from `now`.

    Raises:
        UsageError: If neither an id nor `all_scopes` says whose memories are meant.
        BudgetExceededError: If the delete budget holds back all that was to be done.
    """
    scopes = scope_filter(user_id=user_id, agent_id=agent_id, run_id=run_id, app_id=app_id)
    moment = now or datetime.now(UTC)
    session = Session(store, settings=settings, state_dir=state_dir)
    try:
        scoped = session.kind.scoped
        if not scoped and (scopes.ids or retire):
            raise UsageError(
                f"A store of the kind {store.kind} has no users and no expiry; leave ids and retire out."
            )
        if scoped and not scopes.ids and not all_scopes:
            raise UsageError(
                "Say whose memories to consolidate: user_id, agent_id, run_id or app_id, or all_scopes=True."
            )
        with session.locked():
            plan = session.look(scopes, now=moment, unattended=apply, say=logger.info).plan
            result = session.apply(plan, now=moment, retire=retire, hold_back=True) if apply else None
    finally:
        session.release()
    return Consolidation(plan, result)


def _in_a_thread(
    whole: Callable[Concatenate[Store, P], Consolidation],
) -> Callable[Concatenate[object, P], Coroutine[Any, Any, Consolidation]]:
    @functools.wraps(whole)
    async def coroutine(memory: object, /, *args: P.args, **kwargs: P.kwargs) -> Consolidation:
        def run() -> Consolidation:
            """The journal and the store belong to one thread."""
            given = memory if hasattr(memory, "capabilities") else None
            store: Any = given or store_over(memory)
            try:
                return whole(store, *args, **kwargs)
            finally:
                if given is None:
                    store.close()

        return await asyncio.to_thread(run)

    coroutine.__name__ = coroutine.__qualname__ = "aconsolidate"
    coroutine.__doc__ = f"""Do as `consolidate`, in a thread of its own, for an `AsyncMemory`, an
    `AsyncMemoryClient`, their synchronous sisters, or a store; the client stays open.

    Example:
        done = await aconsolidate(AsyncMemoryClient(), user_id="alice", apply=True, retire=True)

    {whole.__doc__}"""
    return coroutine


aconsolidate = _in_a_thread(consolidate)


class Guarded:
    """A mem0 client whose `add` stores only what is not known, and says what each text is to the memories.

    Everything but `add` and `check` is the client's own.

    Example:
        memory = guarded(Memory.from_config(config))
        memory.add("Lives in Faro now", user_id="alice")["check"][0]["finding"]   # "contradicts"
    """

    def __init__(
        self,
        memory: Any,  # noqa: ANN401  (mem0 is untyped)
        *,
        known: Literal["skip", "add"] = "skip",
        contradicted: Literal["note", "retire"] = "note",
        settings: Settings | None = None,
        state_dir: Path | str | None = None,
        encoder: Encoder | None = None,
        scorer: PairScorer | None = None,
    ) -> None:
        """Wrap a `Memory` of mem0 or a `MemoryClient`; models are loaded with the first text.

        With `known="add"` what is known is stored, too; with `contradicted="retire"` what a text is surely
        against is retired, and else noted for the next pass.
        """
        policies = (("known", known, ("skip", "add")), ("contradicted", contradicted, ("note", "retire")))
        for name, given, allowed in policies:
            if given not in allowed:
                raise UsageError(f"{name} is {' or '.join(map(repr, allowed))}, not {given!r}.")
        self._client, self._store = memory, open_store(memory)
        self._skips, self._retires = known == "skip", contradicted == "retire"
        self._options: dict[str, Any] = {
            "settings": settings, "state_dir": state_dir, "encoder": encoder, "scorer": scorer,
        }  # fmt: skip
        self._loaded: Models | None = None
        self._known: Known | None = None
        self._turn = threading.Lock()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._client, name)

    def check(self, text: str, *, metadata: Mapping[str, Any] | None = None, **ids: str) -> Checked:
        """What a text is to the memories of exactly this user, agent, run and app; writes nothing."""
        if not isinstance(text, str) or not text.strip():
            raise UsageError(f"There is no text to check: {text!r}.")
        if not any(ids.values()) or not ids.keys() <= set(SCOPE_IDS):
            raise UsageError(f"Say whose memories are meant: {', '.join(SCOPE_IDS)}.")
        with self._opened() as session:
            return self._checked(session, text, Scope.of(**ids), metadata)

    def add(
        self,
        messages: Any,  # noqa: ANN401  (text, message or messages, as mem0 takes them)
        *,
        metadata: Mapping[str, Any] | None = None,
        infer: bool = False,
        **options: Any,  # noqa: ANN401
    ) -> dict[str, Any]:
        """Store what is not known yet, each message verbatim; the options are those of mem0's `add`.

        With `infer` mem0's language model is asked, unless each message is known already.

        Returns:
            What mem0 gives, an event "NONE" with the memory for each text that was known, and under "check"
            what each text is to the memories, as `mem0-dream check --json` tells it.

        Raises:
            UsageError: If the messages are none.
        """
        ids = {name: options.get(name) for name in SCOPE_IDS}
        given = messages if isinstance(messages, list | tuple) else [messages]
        if not all(isinstance(each, str | Mapping) for each in given):
            raise UsageError("What is added is a text, a message of a role and a content, or a list of them.")
        said = [{"role": "user", "content": each} if isinstance(each, str) else dict(each) for each in given]
        told, results, unknown = [], [], []

        def stored(messages: list[Any], *, infer: bool) -> list[Any]:
            given = {"metadata": dict(metadata)} if metadata is not None else {}
            added = self._client.add(messages, infer=infer, **given, **options)
            return list(added.get("results", [added]) if isinstance(added, Mapping) else added or ())

        with self._opened() as session:
            for message in said:
                text, role = message.get("content"), message.get("role")
                if not isinstance(text, str) or role == "system":  # pictures; and what mem0 leaves out
                    unknown.append(message)
                    continue
                scope = Scope.of(**ids, role=None if role == "user" else role, actor_id=message.get("name"))
                checked = self._checked(session, text, scope, metadata)
                told.append(check_json(checked, str))
                if checked.finding is Finding.SAME and self._skips:
                    held = checked.matches[0].memory
                    results.append({"id": held.id, "memory": held.text, "event": "NONE"})
                elif infer:
                    unknown.append(message)
                else:
                    added = stored([message], infer=False)
                    results += added
                    if len(added) == 1 and "id" in added[0]:
                        self._oppose(session, str(added[0]["id"]), checked)
            if infer and unknown:
                results += stored(said, infer=True)
        return {"results": results, "check": told}

    @contextlib.contextmanager
    def _opened(self) -> Iterator[Session]:
        with self._turn:
            session = Session(self._store, **self._options)
            if self._loaded is not None:
                session.models.take(self._loaded)
            self._loaded = session.models
            try:
                yield session
            finally:
                session.release()

    def _checked(
        self, session: Session, text: str, scope: Scope, metadata: Mapping[str, Any] | None
    ) -> Checked:
        ids = scope_filter(**{name: value for name, value in scope.ids if name in SCOPE_IDS})
        self._known = session.known(ids, now=datetime.now(UTC), into=self._known, only=scope)
        return self._known.check(text, metadata)

    def _oppose(self, session: Session, added: str, checked: Checked) -> None:
        against = [match for match in checked.matches if match.sure and match.finding is Finding.AGAINST]
        found = self._store.fetch([added]) if against else {}
        for match in against if added in found else ():
            new, old, now = self._store.parse(found[added]), match.memory, datetime.now(UTC)
            verdict = replace(match.verdict, pair=replace(match.verdict.pair, a=old.id, b=new.id))
            judge = Judging.by(session.models, session.settings, {}).drafted
            opposed = conflict_of_pair(verdict, {old.id: old, new.id: new})
            conflict = replace(with_rests(opposed, session.kind, judge), id="c1")
            whole = not (match.said or match.part or old.pinned)
            if self._retires and whole and self._store.capabilities.retire:
                fingerprint, scorer = session.store.fingerprint, session.models.scorer.name
                plan = Plan(fingerprint, session.store.kind, now, scorer, totals=(), actions=(conflict,))
                side: Side = "a" if conflict.a[0] == new.id else "b"
                with contextlib.suppress(StoreLockedError), session.locked(wait_s=PATIENCE_S):
                    session.apply(plan, now=now, choices={"c1": side}, retire=True, within_budget=False)
                    continue
            noted = replace(Answer.to(conflict, Say.NOTED, at=now), key="")
            session.journal.answer(session.store.fingerprint, [noted])


guarded = Guarded
