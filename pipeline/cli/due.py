"""`--if-due`: a pass over a mem0 store or over files happens only if it is due; either way it says why."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import click

from .logs import tell
from .night import tell_not_due

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..engine import Session
    from ..writing.nights import NightLog
    from .options import Options


def is_due(session: Session, options: Options, given: Mapping[str, Any]) -> bool:
    """Whether to go on; without `--if-due` it always is."""
    if not given["if_due"]:
        return True
    from ..planning.plan_file import json_text

    due, why = _reason(session, options)
    tell(f"{'due' if due else 'not due'}: {why}.")
    if not due:
        tell_not_due(why)
    if given["as_json"] and not due:
        click.echo(json_text({"due": False, "reason": why}))
    return due


def note_pass(session: Session, options: Options, run: str) -> None:
    """Remember an unattended pass that ended, and what it left.

    Args:
        session: What read the store.
        options: Whose memories were meant.
        run: Its name in the journal; empty if nothing had to be done.
    """
    from ..writing.journal import Operation
    from ..writing.nights import names_of

    read = session.inventory
    if read is None:
        return
    added = (
        [change.memory for change in session.journal.changes(run) if change.operation is Operation.ADD]
        if run
        else []
    )
    ids = {memory.id for memory in read.memories} | {memory_id for memory_id in added if memory_id}
    with _log(session) as log:
        log.note(session.store.fingerprint, options.scopes(), at=options.moment, known=names_of(ids))


def _reason(session: Session, options: Options) -> tuple[bool, str]:
    from ..rules.due import LastPass, due_reason
    from ..writing.nights import names_of

    store, scopes = session.store.fingerprint, options.scopes()
    interrupted = session.journal.interrupted(store)
    if interrupted is not None:
        return True, f"run {interrupted.id} was interrupted"
    with _log(session) as log:
        last: LastPass | None = log.last(store, scopes)
    present = session.read(scopes).memories if last is not None else ()
    names = names_of(memory.id for memory in present if not memory.is_retired(options.moment.date()))
    return due_reason(names, last, settings=session.settings, now=options.moment)


@contextlib.contextmanager
def _log(session: Session) -> Iterator[NightLog]:
    from ..writing.nights import NightLog

    log = NightLog(session.directory)
    try:
        yield log
    finally:
        log.close()
