"""Say what the commands of a line for a shell would touch: files they read and write, and what is not known.

Every command of the line is a `Part`. What is wrapped in another (`timeout 5 …`, `xargs …`, `sh -c '…'`,
`find … -exec …`) is a part of its own. Nothing is allowed or denied here; that is for `permissions`.
"""

# Paths are taken as the shell takes them, as texts.
# ruff: noqa: PTH110, PTH112, PTH118, PTH119, PTH120, PTH208

from __future__ import annotations

import fnmatch
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from clew.agent.shell_lines import Command, Redirection, fragments, parse
from clew.agent.shell_reading import Looks, looks
from clew.agent.shell_unwrapping import HARMLESS_VARIABLES, Unwrapped, bare_forms, unwrap

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clew.agent.shell_words import Word

_NOWHERE: Final = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr"})
_MOST_FOLDERS: Final = 8
_MOST_NAMES: Final = 5000
_LONGEST_PATH: Final = 4096
_WRITERS: Final = {"mkdir": "pv", "touch": "acm", "rmdir": "pv", "rm": "fvi", "cp": "fpvni", "mv": "fvni"}
"""Commands that change only the files they name, with the options under which that is so."""


@dataclass(frozen=True, slots=True)
class Part:
    """One command of a line."""

    source: str
    words: tuple[Word, ...] = ()
    """Without what wraps it."""

    forms: tuple[str, ...] = ()
    """The texts a rule that forbids may know it by."""

    texts: tuple[tuple[str, int], ...] = ()
    """The texts of which a rule that allows must match one, each with how many words it must fix: a rule that
    ends inside a wrapper says nothing of the rest. None when no rule can."""

    mention: str = ""
    """What a rule that allows must have in it."""

    has_tail: bool = False
    """Whether words come behind that are only known when it runs."""

    is_free: bool = False
    """Whether the command by itself does nothing: only what it reads and writes counts."""

    is_known: bool = False
    """Whether what it reads and writes is all it does."""

    is_searching: bool = False
    """Whether it shows what is in files that are not named."""

    reads: tuple[str, ...] = ()
    """Files its input is taken from."""

    writes: tuple[str, ...] = ()
    """Files its output goes to."""

    looks_at: tuple[str, ...] = ()
    """All files the command itself may look at, if that is known; rather too many."""

    changes: tuple[str, ...] = ()
    """Files the command itself changes, if that is known."""

    named: tuple[str, ...] = ()
    """All files that are named in it, whatever happens to them; in a command that looks, the paths only."""

    doubt: str = ""
    """What cannot be known of it; then only the person can allow it."""

    runs_unknown: bool = False
    """Whether it runs commands that only come to be when it runs."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line for a shell, as far as it is understood."""

    parts: tuple[Part, ...]
    problem: str | None = None
    fragments: tuple[str, ...] = ()
    """Where commands might begin in a line that is not understood."""


def understand(text: str, *, cwd: str, home: str) -> Line:
    """Say what the commands of a line would touch when it is run in `cwd`."""
    seer = _Seer(cwd, home)
    parts = tuple(seer.line(text, depth=0))
    return Line(parts, seer.problem, fragments(text) if seer.problem else ())


class _Seer:
    """Goes through the commands of a line, one by one, and keeps in mind where they may run."""

    def __init__(self, cwd: str, home: str) -> None:
        self.folders = [cwd]
        """All the folders a command may run in, by the `cd` before it: none is certain to have run."""

        self.home = home
        self.problem: str | None = None

    def line(self, text: str, *, depth: int) -> Iterator[Part]:
        """Yield the commands of a line, and what is wrapped in them."""
        script = parse(text, depth=depth)
        for command in script.commands:
            outer = unwrap(command)
            yield self._part(command, outer)
            for line in outer.lines:
                yield from self.line(line, depth=depth + 1)
            for words in outer.commands:
                inner = Command((), words, (), " ".join(word.source for word in words))
                part = self._part(inner, unwrap(inner))
                yield replace(part, has_tail=True, is_known=False, is_free=False)
        self.problem = self.problem or script.problem

    def _part(self, command: Command, outer: Unwrapped) -> Part:
        words = outer.words
        reads, writes, doubt = self._redirected(command.redirections)
        doubt = doubt or outer.doubt or self._assigned(command)
        is_known = is_free = is_searching = False
        looked_at: list[str] = []
        changes: list[str] = []
        named = self._named(words[1:])
        if not words or outer.is_shell:
            is_free = is_known = not outer.is_odd or not words
        elif not outer.has_tail and not outer.is_odd:
            seen = looks(words)
            found = self._looked_at(seen) if seen else self._written(words)
            is_free = is_known = found is not None
            is_searching = seen is not None and seen.is_searching
            if seen and found is not None:
                looked_at, named = found, self._named(seen.paths)
            elif found is not None:
                changes = found
        if words and words[0].text == "cd":
            self._move(words)
        return Part(
            command.source,
            tuple(words),
            bare_forms(command),
            outer.texts if words and words[0].is_literal else (),
            outer.mention,
            outer.has_tail,
            is_free,
            is_known,
            is_searching,
            tuple(reads),
            tuple(writes),
            tuple(looked_at),
            tuple(changes),
            tuple(named),
            doubt,
            bool(outer.doubt),
        )

    def _assigned(self, command: Command) -> str:
        """Say which variable is set for all that follows, if it may change what that does."""
        for name, _ in () if command.words else command.assignments:
            # What is not exported already is the shell's own and not seen by programs.
            is_own = name.islower() and not name.endswith("_proxy")
            if not is_own and name not in HARMLESS_VARIABLES:
                return f"it sets {name}"
        return ""

    def _redirected(self, redirections: Sequence[Redirection]) -> tuple[list[str], list[str], str]:
        reads: list[str] = []
        writes: list[str] = []
        for one in redirections:
            target = one.target
            if one.operator in {"<<", "<<-", "<<<"} or target.source.startswith(("<(", ">(")):
                continue
            if target.text in _NOWHERE:
                continue
            if one.operator in {">&", "<&"} and (target.text == "-" or target.text.isdigit()):
                continue
            paths = self._paths(target) if not target.needs - {"tilde"} else None
            if paths is None:
                return reads, writes, "it is not known which file it reads or writes"
            if one.operator in {"<", "<&"}:
                reads += paths
            else:
                writes += paths
        return reads, writes, ""

    def _looked_at(self, seen: Looks) -> list[str] | None:
        """Return the paths a command looks at, or None if they are not all known."""
        paths = list(self.folders)
        if seen.is_git and (len(self.folders) > 1 or is_bare_repository(self.folders[0])):
            return None
        for word in (*seen.paths, *((seen.moves_to,) if seen.moves_to else ())):
            found = self._matched(word) if "glob" in word.needs else self._paths(word)
            if found is None or (seen.needs_files and any(os.path.isdir(path) for path in found)):
                return None
            paths += found
        return paths

    def _written(self, words: Sequence[Word]) -> list[str] | None:
        """Return the paths a simple command changes, or None if it may do more."""
        options = _WRITERS.get(words[0].text) if words[0].is_literal else None
        if options is None:
            return None
        operands: list[Word] = []
        for word in words[1:]:
            if word.needs - {"tilde"} or word.text in {"", "--"}:
                return None
            if not word.text.startswith("-"):
                operands.append(word)
            elif word.text.startswith("--") or set(word.text[1:]) - set(options):
                return None
        paths = [path for word in operands for path in self._paths(word) or [""]]
        if not paths or "" in paths:
            return None
        if words[0].text in {"cp", "mv"}:
            into = self._paths(operands[-1]) or []
            names = [os.path.basename(os.path.normpath(word.text)) for word in operands[:-1]]
            paths += [os.path.realpath(os.path.join(folder, name)) for folder in into for name in names]
        elif words[0].text == "rm" and any(os.path.isdir(path) for path in paths):
            return None
        return paths

    def _named(self, words: Sequence[Word]) -> list[str]:
        """Return the files that are named, also behind an equals sign; for rules that forbid."""
        found: list[str] = []
        for word in words:
            if word.needs - {"tilde", "glob"} or len(word.text) > _LONGEST_PATH:
                continue
            found += (self._matched(word) if "glob" in word.needs else self._paths(word)) or []
            _, equals, value = word.text.partition("=")
            if equals and value:
                found += [os.path.realpath(os.path.join(folder, value)) for folder in self.folders]
        return found

    def _paths(self, word: Word) -> list[str] | None:
        """Return what a path may lead to, links followed."""
        text = word.text
        if "\0" in text or word.needs - {"tilde"}:
            return None
        if "tilde" in word.needs:
            if text != "~" and not text.startswith("~/"):
                return None
            text = self.home + text[1:]
        return [os.path.realpath(os.path.join(folder, text)) for folder in self.folders]

    def _matched(self, word: Word) -> list[str] | None:
        """Return at least all files that a pattern may match, links followed."""
        above, _, last = word.text.rpartition("/")
        if set(above) & set("*?[") or "tilde" in word.needs:
            return None
        found: list[str] = []
        for folder in self.folders:
            place = os.path.realpath(os.path.join(folder, above or ("/" if "/" in word.text else ".")))
            try:
                names = os.listdir(place)
            except OSError:
                names = []
            if len(names) > _MOST_NAMES:
                return None
            names = [name for name in names if _may_match(name, last)]
            # A file whose name begins with a dash would be taken for an option.
            if not above and any(name.startswith("-") for name in names):
                return None
            found += [place, *(os.path.realpath(os.path.join(place, name)) for name in names)]
        return found

    def _move(self, words: Sequence[Word]) -> None:
        targets = self._paths(words[1]) if len(words) == 2 and words[1].text[:1] not in {"", "-"} else None
        if targets is None or len(self.folders) + len(targets) > _MOST_FOLDERS:
            self.problem = self.problem or "it is not known in which folder it runs"
            return
        self.folders = list(dict.fromkeys([*self.folders, *targets]))


def _may_match(name: str, pattern: str) -> bool:
    if name.startswith(".") and not pattern.startswith((".", "[")):
        return False
    # What is in brackets is not looked at: shells know more kinds of them.
    return "[" in pattern or fnmatch.fnmatchcase(name, pattern)


def is_bare_repository(folder: str) -> bool:
    """Say whether git would take a plain folder for a repository, with whatever its settings there start."""
    while True:
        if os.path.exists(os.path.join(folder, ".git")):
            return False
        if all(os.path.exists(os.path.join(folder, name)) for name in ("HEAD", "objects", "refs")):
            return True
        above = os.path.dirname(folder)
        if above == folder:
            return False
        folder = above
