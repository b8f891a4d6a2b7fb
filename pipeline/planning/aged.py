"""What the age of memories proposes, and what is past its age and kept all the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ...records import Memory, Scope
from ...settings import Settings
from ..answers import prune_key
from ..judging.inventory import Circumstances
from ..rules.stale import PruneFinding, find_prunes, is_stale
from ..rules.unattended import Spared, crowded, is_crowd, spared
from .merges import Consolidated


@dataclass(frozen=True, slots=True)
class Aged:
    """What may be forgotten, and what is kept although it is past its age.

    Attributes:
        prunes: Stale and vague memories that nobody said no to.
        past: Ids of those past their age.
        kept: Those whose age is no reason.
    """

    prunes: tuple[PruneFinding, ...]
    past: tuple[str, ...]
    kept: Spared

    @property
    def notes(self) -> tuple[str, ...]:
        """Why something past its age is kept, or not proposed."""
        return self.kept.notes(memory_id for memory_id in self.past if memory_id in self.kept.ids)


def find_aged(
    living: Sequence[Memory],
    settings: Settings,
    circumstances: Circumstances,
    lifted: frozenset[Scope] = frozenset(),
) -> Aged:
    """What may be forgotten, and why something past its age may not.

    Args:
        living: The memories in question.
        settings: Ages and limits.
        circumstances: Time, reads, rejections.
        lifted: Scopes in which there are not too many old memories after all.
    """
    now, accessed, tracked = circumstances.now, circumstances.accessed, circumstances.tracked
    past = tuple(
        memory.id
        for memory in living
        if not memory.pinned
        and is_stale(memory, settings=settings, now=now, accessed=accessed.get(memory.id))
    )
    if circumstances.unattended:
        kept = spared(living, tracked=tracked, assume_unread=settings.assume_unread)
    elif settings.assume_unread:
        kept = Spared()
    else:
        asked = [memory for memory in living if memory.scope not in lifted]
        share, count = settings.max_delete, settings.min_delete
        kept = crowded(asked, frozenset(past), tracked=tracked, max_share=share, min_count=count)
    prunes = find_prunes(living, settings=settings, now=now, accessed=accessed, spared=kept.ids)
    refused = circumstances.rejected
    return Aged(tuple(item for item in prunes if prune_key(item.memory) not in refused), past, kept)


def thinned_scopes(
    living: Sequence[Memory], aged: Aged, merges: Sequence[Consolidated], settings: Settings
) -> frozenset[Scope]:
    """Scopes in which too many memories are old now, and not once they are merged.

    The next pass would propose what this one keeps back; so this one does.
    """
    crowd = aged.kept.crowd
    gone = {memory_id for merge in merges for memory_id in merge.ids}
    gone |= {item.memory.id for item in aged.prunes}
    old, left = Counter[Scope](), Counter[Scope]()
    for memory in living:
        old[memory.scope] += memory.id in crowd and memory.id not in gone
        left[memory.scope] += memory.id not in gone
    for merge in merges:
        old[merge.members[0].scope] += merge.ids <= crowd
        left[merge.members[0].scope] += 1
    scopes = {memory.scope for memory in living if memory.id in crowd}
    return frozenset(
        scope
        for scope in scopes
        if not is_crowd(old[scope], left[scope], max_share=settings.max_delete, min_count=settings.min_delete)
    )
