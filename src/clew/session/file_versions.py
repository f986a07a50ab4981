"""The versions of every file a session changed, rebuilt from what its calls, reads and copies tell.

A file is followed from one happening to the next. Where what a call starts from, a read shows or a copy holds
is not what the file was last known to hold, it was changed by something else in between: a gap, which is
named. Versions are given one after the other and only what each file holds now is kept, so a long session
costs what its files do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from clew.session.file_contents import MARK, Content, count_lines, plain
from clew.session.file_patches import edited
from clew.session.file_reads import Action, Shown, Told, shown, told
from clew.session.line_diffs import counts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clew.format.kinds.file_history import Backup
    from clew.session.file_happenings import Happening

Copies = Callable[[str], bytes | None]
"""Gives the bytes of a copy by its name; None when it is not there."""

Sign = Literal["call", "read", "copy"]

OUTSIDE: Final = "changed outside the session's file tools: by Bash, a formatter or a person"
REMOVED: Final = "removed outside the session's file tools: by Bash or a person"
MADE: Final = "made outside the session's file tools: by Bash, another program or a person"


@dataclass(frozen=True, slots=True)
class Version:
    """A file as one call left it."""

    path: str
    turn: int
    call: str | None
    tool: str
    action: Action
    before: Content | None
    """What it started from; None for a new file, and when it is not known."""

    content: Content | None
    """None when it is not known."""

    added: int | None
    removed: int | None
    time: int | None
    uuid: str | None = None
    """The line of the call."""

    agent_id: str | None = None
    is_active: bool = True
    """False for what was rewound: it stands on no way to where the client would go on."""


@dataclass(frozen=True, slots=True)
class Gap:
    """A change that no call of the session tells: between two turns, or within one."""

    path: str
    first_turn: int
    """When the file was last known."""

    last_turn: int
    """When it was found to be another."""

    why: str
    seen_by: Sign
    is_gone: bool = False
    """Whether the file was found to be no more."""


def no_copies(_name: str) -> None:
    """Give no copies: for sessions whose copies are not at hand."""


def versions(
    happened: Sequence[Happening],
    copies: Copies = no_copies,
    *,
    advance: Callable[[], None] | None = None,
) -> Iterator[Version | Gap]:
    """Give the versions of all files and the gaps between them, in the order of what happened.

    `advance` is called after each happening.
    """
    following = _following_copies(happened)
    states: dict[str, _State] = {}
    for at, one in enumerate(happened):
        state = states.setdefault(one.path, _State(one.path))
        if one.copy is not None:
            yield from state.see_copy(one, _copied(one.copy, copies))
        elif one.changes:
            later = following.get(at)
            yield from state.change(one, None if later is None else _copied(later, copies))
        else:
            lines = shown(one)
            if lines is not None:
                yield from state.see(one, lines)
        if advance is not None:
            advance()


def _following_copies(happened: Sequence[Happening]) -> dict[int, Backup]:
    """Return for each change the copy made of the file before anything else changed it."""
    found: dict[int, Backup] = {}
    waiting: dict[str, Backup] = {}
    for at in range(len(happened) - 1, -1, -1):
        one = happened[at]
        if one.copy is not None:
            waiting[one.path] = one.copy
        elif one.changes and (copy := waiting.pop(one.path, None)) is not None:
            found[at] = copy
    return found


@dataclass(frozen=True, slots=True)
class _Copied:
    content: Content | None
    """None when there was no file."""


def _copied(copy: Backup, copies: Copies) -> _Copied | None:
    if copy.content is not None:
        return _Copied(Content.told(copy.content))
    if copy.file_name is None:
        return _Copied(None)
    data = copies(copy.file_name)
    # Clients up to 2.1.45 copied a file as UTF-8: of any other nothing can be told.
    is_spoilt = data is not None and b"\0" in data and "\ufffd".encode() in data
    return None if data is None or is_spoilt else _Copied(Content.of(data))


@dataclass(slots=True)
class _State:
    """What is known of a file by now."""

    path: str
    content: Content | None = None
    is_absent: bool = False
    turn: int = field(default=0)
    """When that was known."""

    def _gap(self, one: Happening, why: str, sign: Sign) -> Gap:
        return Gap(self.path, min(self.turn, one.turn), one.turn, why, sign, why is REMOVED)

    def _know(self, one: Happening, content: Content | None, *, is_absent: bool = False) -> None:
        self.content, self.is_absent, self.turn = content, is_absent, one.turn

    # What is seen -----------------------------------------------------------------------------------

    def see_copy(self, one: Happening, copied: _Copied | None) -> Iterator[Gap]:
        """Take note of a copy: the bytes of the file at that moment."""
        if copied is None:
            return
        believed, found = self.content, copied.content
        if found is None:
            if believed is not None:
                yield self._gap(one, REMOVED, "copy")
        elif believed is not None and not _is_same(believed, found.shown):
            yield self._gap(one, OUTSIDE, "copy")
        elif self.is_absent:
            yield self._gap(one, MADE, "copy")
        self._know(one, found, is_absent=found is None)

    def see(self, one: Happening, seen: Shown) -> Iterator[Gap]:
        """Take note of lines that were shown; all of them tell what the file holds, some only check it."""
        believed = self.content
        if believed is None and not self.is_absent:
            if seen.is_whole:
                self._know(one, Content.told(seen.text))
            return
        if believed is not None and _fits(believed, seen):
            self.turn = one.turn
            return
        yield self._gap(one, OUTSIDE if believed is not None else MADE, "read")
        if not seen.is_whole:
            self._know(one, None)
        elif believed is None:
            self._know(one, Content.told(seen.text))
        else:
            mark = MARK if believed.text.startswith(MARK) else ""
            self._know(one, believed.holding(mark + seen.text))

    # What is changed --------------------------------------------------------------------------------

    def change(self, one: Happening, later: _Copied | None) -> Iterator[Version | Gap]:
        """Follow a call that changed the file; `later` is a copy made before the next change."""
        said = told(one)
        if said is None:
            return
        is_new = said.action == "create" or _makes(said, self.content)
        before, gap = (None, None) if is_new else self._start(one, said)
        if before is not None and _shows_returns(said):
            before = before.ending("\r\n")
        if is_new and self.content is not None:
            gap = self._gap(one, REMOVED, "call")
        if gap is not None:
            yield gap
        content = _after(said, before, is_new=is_new)
        is_misfit = content is None and bool(said.pieces or said.hunks)
        if is_misfit and not is_new and said.original is None and before is not None:
            # It was made on something else than what the file was believed to hold.
            yield self._gap(one, OUTSIDE, "call")
            before = None
        if content is not None and later is not None and later.content is not None:
            # The same text, so these are its bytes: line ends and encoding are not told otherwise.
            content = later.content if later.content.shown == content.shown else content
        added, removed = _counted(said, before, content, is_new=is_new)
        self._know(one, content)
        assert one.call is not None
        yield Version(
            self.path,
            one.turn,
            one.call.id,
            one.call.name or "",
            "create" if is_new else said.action,
            before,
            content,
            added,
            removed,
            one.time,
            one.session.entry(one.row).uuid,
            one.agent_id,
            one.is_active,
        )

    def _start(self, one: Happening, said: Told) -> tuple[Content | None, Gap | None]:
        """Return what a change started from, and the gap before it if there is one."""
        believed = self.content
        if said.original is None:
            return believed, self._gap(one, MADE, "call") if self.is_absent else None
        noted = plain(said.original)
        if believed is None:
            gap = self._gap(one, MADE, "call") if self.is_absent and noted else None
            return Content.told(said.original), gap
        # Some clients note the line ends as they are, others plain ones: then they are what they were.
        other = Content.told(said.original) if "\r\n" in said.original else believed.holding(noted)
        return other, None if _is_same(believed, noted) else self._gap(one, OUTSIDE, "call")


def _makes(said: Told, believed: Content | None) -> bool:
    """Say whether an edit made a new file: it began with nothing, and nobody knows of a file there."""
    pieces = said.pieces
    return (
        said.action == "edit"
        and bool(pieces)
        and not pieces[0].old
        and not said.original
        and (believed is None)
    )


def _after(said: Told, before: Content | None, *, is_new: bool) -> Content | None:
    """Return what a call made of what it started from."""
    if said.whole is not None:
        whole = Content.told(said.whole)
        returns = before.line_end != "\n" if before is not None else _shows_returns(said)
        if said.keeps_ends and returns:
            whole = whole.ending("\r\n")
        if said.action == "edit" and before is not None:  # a notebook, written as it was
            whole = before.holding(plain(whole.text))
        elif before is not None and before.encoding != "utf-8":
            whole = Content(whole.text, before.encoding)
        return whole
    if is_new and said.pieces:
        start = Content("")
    elif before is None:
        return None
    else:
        start = before
    text = edited(start.shown, said.pieces, said.hunks, is_sure=said.original is not None)
    return None if text is None else start.holding(text)


def _shows_returns(said: Told) -> bool:
    """Say whether the lines before ended in carriage returns; the hunks of some clients show them."""
    return any(row.endswith("\r") and row[:1] in {" ", "-"} for one in said.hunks for row in one.lines)


def _is_same(believed: Content, text: str) -> bool:
    """Say whether a file holds a text; a read shows no mark at its start."""
    return believed.shown.removeprefix(MARK) == text.removeprefix(MARK)


def _counted(
    said: Told, before: Content | None, content: Content | None, *, is_new: bool
) -> tuple[int | None, int | None]:
    if is_new:
        return (None, None) if content is None else (count_lines(content.text), 0)
    if said.hunks:
        return sum(hunk.added for hunk in said.hunks), sum(hunk.removed for hunk in said.hunks)
    if before is not None and content is not None:
        return counts(before.shown, content.shown)
    return None, None


def _fits(believed: Content, seen: Shown) -> bool:
    text = believed.shown.removeprefix(MARK)
    if seen.is_whole:
        # Not every client shows whether the last line has an end; the next call's own note tells it.
        return text == seen.text or text.removesuffix("\n") == seen.text.removesuffix("\n")
    there = text.split("\n")[seen.first - 1 :]
    rows = list(seen.lines)
    while rows and not rows[-1]:
        rows.pop()
    return there[: len(rows)] == rows
