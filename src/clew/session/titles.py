"""What a session is called, and who says so.

The client appends its titles again and again; the last of each kind counts. A summary names the conversation
that holds its leaf, which may be in another file of the project.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import msgspec
from msgspec import Struct

from clew.session.ids import id_hash
from clew.session.prompts import read
from clew.session.session import HUMAN
from clew.session.states import packed, unpacked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from clew.format.entry import Entry
    from clew.session.session import Session

TitleSource = Literal["custom", "ai", "agent", "summary", "prompt"]

_FIELDS: Final[Mapping[str, tuple[TitleSource, str]]] = {
    "custom-title": ("custom", "customTitle"),
    "ai-title": ("ai", "aiTitle"),
    "agent-name": ("agent", "agentName"),
}
KINDS: Final = frozenset({*_FIELDS, "summary"})
"""The entry types that name a session."""

LONGEST: Final = 300
_MOST_SUMMARIES: Final = 10_000


class Title(Struct, frozen=True):
    """A title on one line."""

    text: str
    source: TitleSource


class TitleState(msgspec.Struct, array_like=True):
    """`Titles` put away."""

    given: dict[TitleSource, bytes]
    summaries: list[tuple[bytes, bytes]]


class Titles:
    """The titles met so far, entry by entry."""

    __slots__ = ("_given", "summaries")

    def __init__(self) -> None:
        self._given: dict[TitleSource, str] = {}
        self.summaries: dict[str, str] = {}
        """Summaries in this file, by the uuid they describe, wherever that is."""

    def add(self, entry: Entry) -> None:
        """Take note of an entry of one of the `KINDS`."""
        kind = entry.type or ""
        if kind == "summary":
            leaf, text = entry.text("leafUuid"), one_line(entry.text("summary"))
            if leaf and text and (leaf in self.summaries or len(self.summaries) < _MOST_SUMMARIES):
                self.summaries[leaf] = text
        elif kind in _FIELDS:
            source, name = _FIELDS[kind]
            # An empty one takes the title back.
            self._given[source] = one_line(entry.text(name))

    def best(
        self,
        uuids: Sequence[int],
        first_prompt: str | None,
        summaries: Told | Mapping[str, str] | None = None,
        *,
        hash_of: Callable[[str], int] = id_hash,
    ) -> Title | None:
        """Choose the title of a session.

        `uuids` are the hashes of its lines in file order, made by `hash_of`; `summaries` come from other
        files, by leaf.
        """
        for source in ("custom", "ai", "agent"):
            if text := self._given.get(source):
                return Title(text, source)
        own = {hash_of(leaf): text for leaf, text in self.summaries.items()}
        others: Mapping[int, str] = Told.of(summaries).hashed(hash_of) if summaries else {}
        if own or others:
            for uuid in reversed(uuids):
                if text := own.get(uuid) or others.get(uuid):
                    return Title(one_line(text), "summary")
        words = one_line(first_prompt)
        return Title(words, "prompt") if words else None

    def state(self) -> TitleState:
        """Put the titles away."""
        return TitleState(
            {source: packed(text) for source, text in self._given.items()},
            [(packed(leaf), packed(text)) for leaf, text in self.summaries.items()],
        )

    @classmethod
    def restore(cls, state: TitleState) -> Titles:
        """Take titles up again."""
        titles = cls()
        titles._given = {source: unpacked(text) for source, text in state.given.items()}
        titles.summaries = {unpacked(leaf): unpacked(text) for leaf, text in state.summaries}
        return titles


class Told:
    """Summaries that other files tell, by the uuid they describe. Hashed once, for all who ask."""

    __slots__ = ("_hashed", "by_leaf")

    def __init__(self, by_leaf: Mapping[str, str]) -> None:
        self.by_leaf = by_leaf
        self._hashed: dict[Callable[[str], int], Mapping[int, str]] = {}

    @classmethod
    def of(cls, summaries: Told | Mapping[str, str]) -> Told:
        """Return the summaries as such."""
        return summaries if isinstance(summaries, Told) else cls(summaries)

    def hashed(self, hash_of: Callable[[str], int]) -> Mapping[int, str]:
        """Return the texts by the hashes of their leaves."""
        found = self._hashed.get(hash_of)
        if found is None:
            found = self._hashed[hash_of] = {hash_of(leaf): text for leaf, text in self.by_leaf.items()}
        return found

    def __bool__(self) -> bool:
        return bool(self.by_leaf)


def title(session: Session, summaries: Mapping[str, str] | None = None) -> Title | None:
    """Return the title of a session; `summaries` are those of other files, by the uuid they describe."""
    table = session.table
    titles = Titles()
    wanted = {code for code, kind in enumerate(table.kinds) if kind.partition("/")[0] in KINDS}
    if wanted:
        for row in range(len(table)):
            if table.kind[row] in wanted:
                titles.add(session.entry(row))
    from clew.session.turns import main_rows  # with all that turns need

    first = next((row for row in main_rows(session) if table.flags[row] & HUMAN), None)
    words = None if first is None else read(session.entry(first)).words
    return titles.best(table.uuid, words, summaries)


def one_line(text: str | None) -> str:
    """Return `text` on one line, cut where it is long."""
    # Cut before splitting too: a title may be a pasted book.
    return " ".join((text or "")[: LONGEST * 8].split())[:LONGEST]
