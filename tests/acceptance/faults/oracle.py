"""What may be found after a command that writes was disturbed: all of the old, all of the new, nothing torn.

It shares no code with clew. Ids and times that a command makes up are told from those that were there before;
but for them, files are compared byte for byte.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

Tree = dict[str, bytes]
"""By name below a folder: what is in a file. An empty folder ends in a stroke."""

_ID = re.compile(
    rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    rb"|\d{4}-\d\d-\d\dT[\d:.]+Z"
    rb"|(?<=:)[0-9a-f]{4}(?=\])"  # what stands for a secret, by a key of the run
)
_NUMBER = re.compile(r"[0-9a-f]*\d[0-9a-f]*")
_MAIN = re.compile(r"projects/[^/]+/[^/]+\.jsonl")


def read(folder: Path) -> Tree:
    """Read everything below a folder."""
    found: Tree = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_dir() and not path.is_symlink():
            if not any(path.iterdir()):
                found[f"{name}/"] = b""
        else:
            found[name] = path.read_bytes()
    return found


def is_hidden(name: str) -> bool:
    """Say whether a file is one of those that clew leaves for its next run, which no client takes for its."""
    last = name.rpartition("/")[2]
    return last.startswith(".") and ".clew" in last and not last.endswith(".jsonl")


def visible(tree: Tree) -> Tree:
    """Return the files that a client sees."""
    return {name: data for name, data in tree.items() if not name.endswith("/") and not is_hidden(name)}


class WrongError(AssertionError):
    """Something is there that may not be, or the other way round."""


@dataclass(frozen=True)
class Oracle:
    """What a command starts from, and what it makes of it when nothing disturbs it."""

    before: Tree
    after: Tree
    twice: Tree = field(default_factory=dict[str, bytes])
    """After a second time, if that was tried."""

    moves: bool = False
    """Whether it moves files: then what is new may for a while be where the old one was."""

    def __post_init__(self) -> None:
        assert self.before != self.after, "the command does nothing"
        assert not any(map(is_hidden, (*self.before, *self.after)))

    @cached_property
    def known(self) -> frozenset[bytes]:
        """The ids and times that are there before it."""
        told = (_told(name, data) for name, data in self.before.items())
        return frozenset(found[0] for one in told for found in _ID.finditer(one))

    def plain(self, name: str, data: bytes) -> bytes:
        """Return a file with its name, made-up ids and times numbered as they come."""
        numbers: dict[bytes, bytes] = {}

        def number(found: re.Match[bytes]) -> bytes:
            if found[0] in self.known:
                return found[0]
            return numbers.setdefault(found[0], b"#%d" % len(numbers))

        return _ID.sub(number, _told(name, data))

    def count(self, tree: Tree) -> Counter[bytes]:
        """Return the files of a folder, as they can be compared."""
        return Counter(self.plain(name, data) for name, data in tree.items())

    @cached_property
    def old(self) -> Counter[bytes]:
        """The files that are there before it."""
        return self.count(self.before)

    @cached_property
    def new(self) -> Counter[bytes]:
        """The files that are there only after it."""
        return self.count(self.after) - self.old

    @cached_property
    def gone(self) -> Counter[bytes]:
        """The files that are there only before it."""
        return self.old - self.count(self.after)

    @cached_property
    def sessions(self) -> list[tuple[bytes, Counter[bytes]]]:
        """The main file of each session that the command makes or takes away, and all that belongs to it."""
        found: list[tuple[bytes, Counter[bytes]]] = []
        for one, other, whole in ((self.after, self.before, self.new), (self.before, self.after, self.gone)):
            mains = [name for name in one.keys() - other.keys() if _MAIN.fullmatch(name)]
            if len(mains) == 1:
                found.append((self.plain(mains[0], one[mains[0]]), whole))
        return found

    def check_disturbed(self, tree: Tree) -> None:
        """Raise unless every file that a client sees is an old one or a new one, whole."""
        seen = self.count(visible(tree))
        if self.moves:
            whole = {*self.before.values(), *self.after.values()}
            strange = [name.encode() for name, data in visible(tree).items() if data not in whole]
        else:
            strange = [*(seen - (self.old + self.new))]
        for one in strange:
            raise WrongError(f"torn or invented: {one[:200]!r}… of {len(one)} bytes")
        for name, data in self.before.items():
            if name in tree or name.endswith("/"):
                continue
            # It is gone: then it must have been moved, whole, or be one that the command takes away.
            if self.plain(name, data) not in self.gone:
                raise WrongError(f"lost: {name}")
        for main, whole in [] if self.moves else self.sessions:
            if seen[main] and whole - seen:
                raise WrongError("a session is there, and not all that belongs to it")

    def check_kept(self, everything: Tree) -> None:
        """Raise unless what the command takes away or replaces is still somewhere, to be brought back."""
        kept = {data for name, data in everything.items() if not name.endswith("/")}
        for name, data in self.before.items():
            if data not in kept:
                raise WrongError(f"there is no copy left of what was {name}")

    def check_settled(self, tree: Tree, *, runs: Iterable[int]) -> int:
        """Raise unless the command was done just so many times, two at most; return how many times."""
        seen = self.count(tree)
        for many in runs:
            if seen == self.count((self.before, self.after, self.twice)[many]):
                return many
        more, less = seen - self.old, self.old - seen
        short = [name[:120] for name in (*more, *less)][:6]
        raise WrongError(f"neither before nor after: {more.total()} more, {less.total()} less: {short}")


def _told(name: str, data: bytes) -> bytes:
    return name.encode() + b"\n" + data


def kinds(wrong: Iterable[str], *, most: int = 12) -> str:
    """Return what was wrong, the same things once, with how often they were met."""
    found: dict[str, list[str]] = {}
    for one in wrong:
        found.setdefault(_NUMBER.sub("#", one.partition(": ")[2])[:200], []).append(one)
    ordered = sorted(found.values(), key=len, reverse=True)
    return "\n".join(f"{len(same)} × {same[0][:900]}" for same in ordered[:most])
