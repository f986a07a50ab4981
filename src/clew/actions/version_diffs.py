"""What changed in a file between two of its versions, as a session tells them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from clew.actions.file_changes import UnknownContentError, check_turn
from clew.errors import UsageError
from clew.session.file_versions import Version
from clew.session.inside_paths import relative
from clew.session.line_diffs import changed
from clew.view.changes import lines_of
from clew.view.parts import Diff, Hunk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clew.actions.file_changes import Followed
    from clew.session.file_contents import Content
    from clew.session.line_diffs import Stretch

_AROUND: Final = 3
_LARGEST: Final = 8 << 20


@dataclass(frozen=True, slots=True)
class VersionDiff:
    """Two versions of a file, and what makes them different."""

    path: str
    from_turn: int | None
    """The turn that left it as it was at first; None for what was there before the session changed it."""

    to_turn: int | None
    """The turn that left it as it was at last; None where it had not been changed by then."""

    is_text: bool
    diff: Diff
    """Without hunks where it is no text."""


def version_diff(
    followed: Followed, path: str, *, from_turn: int | None = None, to_turn: int | None = None
) -> VersionDiff:
    """Compare a file after one turn with the same file after another.

    Without the first it is what the session found, without the other what it left. Turn 0 is before the
    first. `path` is one of `followed.paths`.
    """
    if path not in followed.paths:
        raise UsageError("this session did not change that file", hint="…/files lists those it did")
    for turn in (from_turn, to_turn):
        check_turn(followed, turn)
    if from_turn is not None and to_turn is not None and from_turn > to_turn:
        raise UsageError("from_turn comes after to_turn", hint="give them the other way round")
    found = [one for one in followed.changes(path) if isinstance(one, Version)]
    early = [one for one in found if from_turn is not None and one.turn <= from_turn]
    late = [one for one in found if to_turn is None or one.turn <= to_turn]
    is_new, before = _held(early, found, path)
    _, after = _held(late, found, path)
    shown = relative(path, followed.cwd)
    texts = ["" if one is None else _text(one, path) for one in (before, after)]
    is_text = not any("\0" in text[:8192] for text in texts)
    diff = whole_diff(shown, *texts, is_new=is_new and after is not None) if is_text else Diff(shown, ())
    first, last = (versions[-1].turn if versions else None for versions in (early, late))
    return VersionDiff(path, first, last, is_text, diff)


def _held(passed: Sequence[Version], every: Sequence[Version], path: str) -> tuple[bool, Content | None]:
    """Return what a file held after some of its versions; where there was none, that it is still to come."""
    if passed:
        if passed[-1].content is None:
            raise UnknownContentError(
                f"the session does not tell what {path} held after turn {passed[-1].turn}",
                hint="…/files says which versions are known",
            )
        return False, passed[-1].content
    if not every:
        raise UnknownContentError(f"the session does not tell what {path} held")
    if every[0].action == "create":
        return True, None
    if every[0].before is None:
        raise UnknownContentError(f"the session does not tell what {path} held before turn {every[0].turn}")
    return False, every[0].before


def _text(content: Content, path: str) -> str:
    if len(content.text) > _LARGEST:
        raise UsageError(f"{path} has more than {_LARGEST >> 20} MB", hint="clew restore writes it")
    return content.shown


def whole_diff(path: str, before: str, after: str, *, is_new: bool = False) -> Diff:
    """Return what makes two texts of a file different, with the numbers of the lines."""
    old, new = lines_of(before), lines_of(after)
    stretches = changed(old, new)
    return Diff(
        path,
        tuple(_hunk(group, old, new) for group in _groups(stretches)),
        sum(len(one.new) for one in stretches),
        sum(len(one.old) for one in stretches),
        is_new=is_new,
    )


def _groups(stretches: Sequence[Stretch]) -> Iterator[list[Stretch]]:
    """Put together what stands so near that the lines around would meet."""
    group: list[Stretch] = []
    for one in stretches:
        if group and one.old.start - group[-1].old.stop > 2 * _AROUND:
            yield group
            group = []
        group.append(one)
    if group:
        yield group


def _hunk(group: Sequence[Stretch], old: Sequence[str], new: Sequence[str]) -> Hunk:
    first = group[0]
    lead = min(_AROUND, first.old.start)
    at = first.old.start - lead
    lines: list[str] = []
    for one in group:
        lines += [f" {line}" for line in old[at : one.old.start]]
        lines += [f"-{old[row]}" for row in one.old]
        lines += [f"+{new[row]}" for row in one.new]
        at = one.old.stop
    lines += [f" {line}" for line in old[at : at + _AROUND]]
    return Hunk(first.old.start - lead + 1, first.new.start - lead + 1, tuple(lines))
