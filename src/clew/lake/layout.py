"""What the files below a source are, told by their keys alone: whose sessions, which sub-agents, what beside.

A source is a config folder (it has `projects/`), or holds many of them, one for each developer, with or
without teams above:

    projects/…                     team none, developer none
    alice/projects/…               team none, developer alice
    core/alice/projects/…          team core, developer alice
    core/alice/.claude/projects/…  the same

A key is the path of a file below the source, with `/` on every system.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from msgspec import Struct

from clew.tables.strings import whole_characters

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Kind = Literal["session", "agent", "side"]

NOBODY: Final = "none"
"""The team or developer of files whose key names none."""

_ENDING: Final = ".jsonl"
_AGENT: Final = "agent-"
_SUBAGENTS: Final = "subagents"
_PROJECTS: Final = "projects"
_CLIENT: Final = ".claude"
_BESIDE: Final = ("file-history", "tasks")


class Found(Struct, frozen=True, array_like=True):
    """One file, as the listing of its store tells it."""

    key: str
    etag: str
    """Says whether it was written since: what the store calls it, or what stands for that."""

    size: int
    changed_ms: int


class Placed(NamedTuple):
    """What a key says about its file."""

    kind: Kind
    root: str
    """The key of the config folder."""

    folder: str
    """The name of its project folder."""

    name: str
    """What the file is called, without the ending."""

    session: str | None
    """The session it belongs to; None where only its lines tell."""


def placed(key: str) -> Placed | None:
    """Say what a file is; None for one that has nothing to do with sessions."""
    parts = key.split("/")
    for at in range(len(parts) - 2, -1, -1):
        if parts[at] == _PROJECTS and (found := _inside("/".join(parts[:at]), parts[at + 1 :])):
            return found
    for at in range(len(parts) - 2, -1, -1):
        root, inside = "/".join(parts[:at]), parts[at + 1 :]
        if parts[at] in _BESIDE and len(inside) > 1:
            return Placed("side", root, "", inside[-1], inside[0])
        if parts[at] == "todos" and len(inside) == 1 and "-agent-" in inside[0]:
            return Placed("side", root, "", inside[0], inside[0].partition("-agent-")[0])
    return None


def _inside(root: str, inside: Sequence[str]) -> Placed | None:
    *above, last = inside
    if any(part.startswith(".") for part in inside):
        return None
    name = last.removesuffix(_ENDING)
    is_lines = last.endswith(_ENDING)
    match above:
        case [] | [_] if is_lines:
            folder = above[0] if above else ""
            if name.startswith(_AGENT):
                return Placed("agent", root, folder, name, None)
            return Placed("session", root, folder, name, name)
        case [folder, subagents, *_] if subagents == _SUBAGENTS and is_lines:
            return Placed("agent", root, folder, name, None)
        case [folder, session, subagents, *_] if subagents == _SUBAGENTS and is_lines:
            return Placed("agent", root, folder, name, session)
        case [folder, session, *_] if session != _SUBAGENTS:
            return Placed("side", root, folder, last, session)
        case _:
            return None


def people(root: str) -> tuple[str, str]:
    """Return the team and the developer that the key of a config folder names."""
    parts = [part for part in root.split("/") if part and part != _CLIENT]
    if not parts:
        return NOBODY, NOBODY
    if len(parts) == 1:
        return NOBODY, whole_characters(parts[0])
    return whole_characters(parts[0]), whole_characters("/".join(parts[1:]))


class Member(Struct, frozen=True, array_like=True):
    """One file of a session."""

    found: Found
    name: str
    kind: Kind
    ids: str | None = None
    """What the first lines of a sub-agent say about whose it is, as JSON, where its place does not."""


class Group(Struct, frozen=True, array_like=True):
    """A session: its own file, those of its sub-agents, and what lies beside them."""

    source: str
    """A short name for it: the same in every build."""

    team: str
    developer: str
    root: str
    folder: str
    session: str
    members: tuple[Member, ...]

    @property
    def main(self) -> Member | None:
        """The session's own file, which may be gone."""
        return next((one for one in self.members if one.kind == "session"), None)

    @property
    def size(self) -> int:
        """How many bytes its sessions' lines have."""
        return sum(one.found.size for one in self.members if one.kind != "side")

    @property
    def changed_ms(self) -> int:
        """When it was written last."""
        return max(one.found.changed_ms for one in self.members)

    @property
    def stamp(self) -> str:
        """Says whether any of its files was written since, came, or went."""
        digest = blake2b(digest_size=16)
        for one in self.members:
            found = one.found
            digest.update(f"{found.key}\0{found.etag}\0{found.size}\0".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()


def source_name(root: str, folder: str, session: str) -> str:
    """Return the short name of a session."""
    whole = f"{root}\0{folder}\0{session}".encode("utf-8", "surrogatepass")
    return blake2b(whole, digest_size=8).hexdigest()


def unplaced(files: Iterable[Found]) -> list[Found]:
    """Return the sub-agents whose session only their lines tell."""
    return [
        one for one in files if (where := placed(one.key)) and where.kind == "agent" and not where.session
    ]


def groups(files: Iterable[Found], ids: Mapping[str, Sequence[str]]) -> list[Group]:
    """Put the files of each session together, in the order of their keys.

    `ids` are the session ids on the first lines of the sub-agents that `unplaced` named, by key. One that
    is not there belongs to nobody, and is a session's by itself.
    """
    known = [(one, where) for one in files if (where := placed(one.key)) is not None]
    said = {
        (where.root, where.folder, where.name): one.size > 0
        for one, where in known
        if where.kind == "session"
    }
    by_session: dict[tuple[str, str, str], list[Member]] = {}
    folders: dict[tuple[str, str], list[str]] = {}
    for one, where in known:
        if where.kind == "side":
            continue
        session, told = where.session, None
        if session is None:
            told = tuple(ids.get(one.key, (where.name,)))
            # Some carry two ids (2.0.42-2.0.76): that of the client as it started, whose file stays empty,
            # and that of the session it then resumed.
            own = (name for name in told if said.get((where.root, where.folder, name)))
            session = next(own, told[0] if told else "")
        text = None if told is None else "\n".join(told)
        member = Member(one, where.name, where.kind, text)
        by_session.setdefault((where.root, where.folder, session), []).append(member)
        if where.kind == "session":
            folders.setdefault((where.root, where.name), []).append(where.folder)
    for one, where in known:
        if where.kind == "side":
            # A file history does not say of which project folder its session is.
            for folder in (
                [where.folder] if where.folder else folders.get((where.root, where.session or ""), [])
            ):
                members = by_session.get((where.root, folder, where.session or ""))
                if members is not None:
                    members.append(Member(one, where.name, "side"))
    return [_group(*key, members) for key, members in sorted(by_session.items())]


def _group(root: str, folder: str, session: str, members: list[Member]) -> Group:
    members.sort(key=lambda one: one.found.key)
    return Group(source_name(root, folder, session), *people(root), root, folder, session, tuple(members))
