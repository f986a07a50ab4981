"""What a session did to files: the list of them, a file as it was, and the whole as a patch."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.actions.reading import open_reading, sub_agents, until_cut
from clew.errors import ClewError, UsageError
from clew.format.times import iso
from clew.session.file_happenings import Happening, happenings, normal_path
from clew.session.file_versions import Gap, Version, versions
from clew.session.files import start_folder
from clew.session.git_patches import patch
from clew.session.inside_paths import relative
from clew.session.turns import turns
from clew.store import workspace
from clew.store.sides import side_files
from clew.store.source import FileSource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from clew.actions.reading import Opened
    from clew.session.file_contents import Content
    from clew.session.turns import Turn
    from clew.store.files import SessionFile

_NEAREST: Final = 4


class UnknownContentError(ClewError):
    """The session does not tell what the file held then."""

    code = "unknown-content"


@dataclass(slots=True)
class Followed:
    """A session whose files can be followed."""

    opened: Opened
    turns: tuple[Turn, ...]
    happened: Sequence[Happening]
    cwd: str | None
    """The folder the session worked in."""

    copies: Callable[[str], bytes | None]

    @property
    def paths(self) -> list[str]:
        """The files it changed, in the order it first did."""
        return list(dict.fromkeys(one.path for one in self.happened if one.changes))

    def changes(
        self, path: str | None = None, *, advance: Callable[[], None] | None = None
    ) -> Iterator[Version | Gap]:
        """Give the versions and gaps of all files in order, or of one; `advance` is called for each step."""
        wanted = self.happened if path is None else [one for one in self.happened if one.path == path]
        return until_cut(self.opened, versions(wanted, self.copies, advance=advance))


def follow(roots: Sequence[Path], name: str) -> Followed:
    """Read the session a name stands for, and find what happened to its files."""
    return follow_opened(open_reading(roots, name))


def follow_opened(opened: Opened) -> Followed:
    """Find what happened to the files of a session that is read."""
    found = turns(opened.session)
    return Followed(
        opened,
        found,
        happenings(opened.session, sub_agents(opened), found=found),
        start_folder(opened.session),
        copies_of(opened.file),
    )


def copies_of(file: SessionFile) -> Callable[[str], bytes | None]:
    """Return what gives the copies of files that the client kept for a session, by their names."""
    paths = {
        os.path.basename(side.path): side.path  # noqa: PTH119
        for side in side_files(file).files
        if side.kind == "file-history" and side.size <= workspace.MOST
    }

    def copy(name: str) -> bytes | None:
        path = paths.get(name)
        if path is None:
            return None
        try:
            with FileSource(path) as source:
                return source.read(0, source.size)
        except ClewError:
            return None

    return copy


# The list -------------------------------------------------------------------------------------------------


class Step(NamedTuple):
    """A version without its content."""

    turn: int
    call: str | None
    tool: str
    action: str
    added: int | None
    removed: int | None
    time: int | None
    is_known: bool
    agent_id: str | None
    is_active: bool


@dataclass(slots=True)
class ChangedFile:
    """A file and what became of it."""

    path: str
    shown: str
    """From the session's folder on, where it is in there."""

    versions: list[Step] = field(default_factory=list[Step])
    gaps: list[Gap] = field(default_factory=list[Gap])

    def as_dict(self) -> dict[str, object]:
        """Return it in the shape of `clew files --json`."""
        return {
            "path": self.path,
            "versions": [
                {
                    "turn": one.turn,
                    "call": one.call,
                    "tool": one.tool,
                    "action": one.action,
                    "added": one.added,
                    "removed": one.removed,
                    "time": iso(one.time),
                    "known": one.is_known,
                    "agent_id": one.agent_id,
                    "active": one.is_active,
                }
                for one in self.versions
            ],
            "gaps": [gap_document(gap) for gap in self.gaps],
        }


def gap_document(gap: Gap) -> dict[str, object]:
    """Return a gap as JSON documents have it."""
    return {
        "first_turn": gap.first_turn,
        "last_turn": gap.last_turn,
        "why": gap.why,
        "seen_by": gap.seen_by,
    }


def list_files(
    followed: Followed, *, start: Callable[[int], Callable[[], None]] | None = None
) -> list[ChangedFile]:
    """List the files a session changed, in the order it first did."""
    found: dict[str, ChangedFile] = {}
    advance = None if start is None else start(len(followed.happened))
    gaps: list[Gap] = []
    for one in followed.changes(advance=advance):
        if isinstance(one, Gap):
            gaps.append(one)
            continue
        file = found.setdefault(one.path, ChangedFile(one.path, relative(one.path, followed.cwd)))
        file.versions.append(
            Step(
                one.turn,
                one.call,
                one.tool,
                one.action,
                one.added,
                one.removed,
                one.time,
                one.content is not None,
                one.agent_id,
                one.is_active,
            )
        )
    for gap in gaps:
        if gap.path in found:
            found[gap.path].gaps.append(gap)
    return list(found.values())


# One file -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Restored:
    """A file as it was after a turn."""

    path: str
    turn: int | None
    """The turn that left it so; None for what it held before the session changed it."""

    call: str | None
    tool: str | None
    time: int | None
    data: bytes
    gaps: tuple[Gap, ...]
    """What is known to have happened to it since, up to the turn that was asked for."""


def restore(followed: Followed, name: str, *, turn: int | None = None) -> Restored:
    """Return a file as it was after a turn, or as the session left it."""
    path = pick(followed, name)
    check_turn(followed, turn)
    last: Version | None = None
    gaps: list[Gap] = []
    before: Content | None = None
    for one in followed.changes(path):
        if isinstance(one, Gap):
            if last is not None and (turn is None or one.last_turn <= turn):
                gaps.append(one)
        elif turn is None or one.turn <= turn:
            last = one
            gaps.clear()
        elif last is None:
            before = one.before
            if one.action == "create":
                raise UsageError(
                    f"{name} was not there after turn {turn}", hint=f"it was made in turn {one.turn}"
                )
            break
        else:
            break
    if last is None:
        if before is None:
            raise UnknownContentError(f"the session does not tell what {name} held then")
        return Restored(path, None, None, None, None, before.data, ())
    if last.content is None:
        raise UnknownContentError(
            f"the session does not tell what {name} held after turn {last.turn}",
            hint="clew files lists the versions that are known",
        )
    return Restored(path, last.turn, last.call, last.tool, last.time, last.content.data, tuple(gaps))


def write_restored(restored: Restored, target: str, *, force: bool = False) -> str:
    """Write it where the user said; over another file only with `force`."""
    return workspace.write(target, restored.data, force=force)


def pick(followed: Followed, name: str) -> str:
    """Return the path a name stands for: whole, from the session's folder or from here on, or its end."""
    paths = followed.paths
    for wanted in (name, normal_path(name, followed.cwd), normal_path(name, os.getcwd())):  # noqa: PTH109
        if wanted in paths:
            return wanted
    end = "/" + name.replace("\\", "/").lstrip("./")
    fitting = [path for path in paths if path.replace("\\", "/").endswith(end)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise UsageError(
            f"{len(fitting)} files end in {name!r}", hint=f"one of: {', '.join(fitting[:_NEAREST])}"
        )
    if not paths:
        raise UsageError("this session changed no files")
    some = ", ".join(relative(path, followed.cwd) for path in paths[:_NEAREST])
    raise UsageError(
        f"this session did not change {name!r}", hint=f"clew files lists what it changed: {some}"
    )


def check_turn(followed: Followed, turn: int | None) -> None:
    """Raise if there is no such turn; 0 is before the first."""
    last = followed.turns[-1].n if followed.turns else 0
    if turn is not None and not 0 <= turn <= last:
        raise UsageError(f"there is no turn {turn}", hint=f"the turns here are 1 to {last}")


# A patch --------------------------------------------------------------------------------------------------


class Patched(NamedTuple):
    """What became of one file."""

    path: str
    action: str
    added: int
    removed: int
    patch: bytes


class LeftOut(NamedTuple):
    """A file that is not in a patch or a history, and why."""

    path: str
    why: str


@dataclass(frozen=True, slots=True)
class Patch:
    """What a turn, or the whole session, changed."""

    files: tuple[Patched, ...]
    left_out: tuple[LeftOut, ...]
    gaps: tuple[Gap, ...]

    def as_dict(self) -> dict[str, object]:
        """Return the JSON document."""
        return {
            "files": [one._asdict() | {"patch": one.patch.decode("utf-8", "replace")} for one in self.files],
            "left_out": [one._asdict() for one in self.left_out],
            "gaps": [{"path": gap.path} | gap_document(gap) for gap in self.gaps],
        }


@dataclass(slots=True)
class _Ends:
    """How a file was at first and at last."""

    first: Version
    last: Version
    is_gone: bool = False


def make_patch(
    followed: Followed,
    *,
    turn: int | None = None,
    full_paths: bool = False,
    start: Callable[[int], Callable[[], None]] | None = None,
) -> Patch:
    """Return what a turn changed, or the session, file by file."""
    check_turn(followed, turn)
    ends: dict[str, _Ends] = {}
    gaps: list[Gap] = []
    advance = None if start is None else start(len(followed.happened))
    for one in followed.changes(advance=advance):
        known = ends.get(one.path)
        if isinstance(one, Gap):
            if known is not None and turn is None:
                gaps.append(one)
                known.is_gone = one.is_gone
        elif turn is None or one.turn == turn:
            if known is None:
                ends[one.path] = _Ends(one, one)
            else:
                known.last, known.is_gone = one, False
    files: list[Patched] = []
    left_out: list[LeftOut] = []
    for path, end in ends.items():
        name = _patch_name(path, followed.cwd, full_paths=full_paths)
        before, after = end.first.before, end.last.content
        is_new = end.first.action == "create"
        if name is None:
            left_out.append(LeftOut(path, "it is outside the session's folder; --full-paths takes it in"))
        elif before is None and not is_new:
            left_out.append(LeftOut(path, "the session does not tell what it held before"))
        elif after is None and not end.is_gone:
            left_out.append(LeftOut(path, "the session does not tell what it held after"))
        else:
            old = None if before is None else before.data
            new = None if after is None or end.is_gone else after.data
            body = patch(name, old, new)
            if body:
                action = "create" if old is None else "delete" if new is None else "edit"
                files.append(Patched(path, action, *_count(body), body))
    return Patch(tuple(files), tuple(left_out), tuple(gap for gap in gaps if gap.path in ends))


def _patch_name(path: str, cwd: str | None, *, full_paths: bool) -> str | None:
    if full_paths:
        return path.replace("\\", "/").lstrip("/")
    name = relative(path, cwd)
    return None if name == path else name


def _count(body: bytes) -> tuple[int, int]:
    rows = body.split(b"\n")
    start = next((at for at, row in enumerate(rows) if row.startswith(b"@@ ")), len(rows))
    return sum(row[:1] == b"+" for row in rows[start:]), sum(row[:1] == b"-" for row in rows[start:])
