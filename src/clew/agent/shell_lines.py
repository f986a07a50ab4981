"""Find the commands that a line for a shell would run, wherever in it they hide.

The commands of lists, pipelines, brackets, loops, substitutions and here-documents are all given in one flat
list: for a permission it does not matter which of them runs first, or whether it runs at all. A line that is
not understood for certain has a `problem`. What a command does is for `shell_reach`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from clew.agent.shell_words import ENDS, MOST_DEPTH, NAME, NotUnderstoodError, Word, WordReader

MOST_COMMANDS: Final = 100

_ASSIGNMENT: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\[|\+?=)")
_DELIMITER: Final = re.compile(r"""(?P<quote>['"]?)(?P<name>[A-Za-z0-9_.\-]+)(?P=quote)""")
_REDIRECTION: Final = re.compile(r"&>>|&>|<<<|<<-|<<|<>|<&|>>|>&|>\||<|>")
_SKIPPED: Final = frozenset(
    {"if", "then", "elif", "else", "fi", "while", "until", "do", "done", "{", "}", "!"}
)
"""Words that only say when a command runs."""

_REFUSED: Final = frozenset({"case", "esac", "select", "function", "coproc", "[[", "]]"})
_CUTS: Final = re.compile(r"[;&|\n(){}<>`\"'$!]+|\b(?:then|do|else|elif|if|while|until)\b")


@dataclass(frozen=True, slots=True)
class Redirection:
    """Where a command's input comes from, or its output goes."""

    operator: str
    target: Word
    """A path, or a number, or for a here-document its delimiter."""


@dataclass(frozen=True, slots=True)
class Command:
    """One simple command: perhaps no more than an assignment or a redirection."""

    assignments: tuple[tuple[str, Word], ...]
    words: tuple[Word, ...]
    redirections: tuple[Redirection, ...]
    source: str


@dataclass(frozen=True, slots=True)
class Script:
    """All commands of a line."""

    commands: tuple[Command, ...]
    problem: str | None = None
    """Why the line is not understood; the commands are those found until then."""


def parse(text: str, *, depth: int = 0) -> Script:
    """Find the commands of a line. `depth` is for a line found inside another."""
    commands: list[Command] = []
    try:
        _Lines(text, depth, commands).all()
    except NotUnderstoodError as error:
        return Script(tuple(commands), str(error))
    return Script(tuple(commands))


def fragments(text: str) -> tuple[str, ...]:
    """Cut a line that is not understood wherever a command might begin.

    That is much too often, but what is written out is not missed.
    """
    bare = re.sub(r"\\\n|[\\\"']", "", text)
    found: dict[str, None] = {}
    for piece in _CUTS.split(f"{text}\n{bare}"):
        words = piece.split()
        while words and _ASSIGNMENT.match(words[0]):
            words = words[1:]
        if words:
            found[" ".join(words)] = None
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Document:
    """A here-document whose text has not come yet."""

    delimiter: str
    is_quoted: bool
    is_indented: bool


class _Lines(WordReader):
    def __init__(self, text: str, depth: int, commands: list[Command]) -> None:
        super().__init__(text, depth)
        self._commands = commands
        self._awaited: list[_Document] = []

    def all(self) -> None:
        """Read everything."""
        self._list(is_inside=False)

    def nested(self, text: str) -> None:
        _Lines(text, self.depth + 1, self._commands).all()

    def inside(self) -> None:
        self.depth += 1
        if self.depth > MOST_DEPTH:
            self.fail("the line is nested too deep")
        outer, self._awaited, self.is_awaiting = self._awaited, [], False
        start = self.at
        self._list(is_inside=True)
        if outer and "\n" in self.text[start : self.at]:
            self.fail("a here-document begins before a bracket")
        self._awaited, self.is_awaiting = outer, bool(outer)
        self.depth -= 1

    def _list(self, *, is_inside: bool) -> None:
        """Read commands to the end, or to the bracket that closes them."""
        while True:
            self.skip_blanks()
            here = self.here
            if not here:
                if is_inside or self._awaited:
                    self.fail("a bracket or a here-document is not closed")
                return
            if here == "#":
                self._comment()
            elif here == "\n":
                self.at += 1
                self._documents()
            elif here == ")":
                if not is_inside or self._awaited:
                    self.fail("a bracket is closed too early")
                self.at += 1
                return
            elif self.sees(";;") or self.sees(";&"):
                self.fail("it chooses between cases")
            elif here in ";|" or (here == "&" and not self.sees("&>")):
                self.at += 1
            elif here == "(":
                if self.sees("(("):
                    self.fail("it calculates")
                self.at += 1
                self.inside()
            else:
                self._simple()

    def _comment(self) -> None:
        end = self.text.find("\n", self.at)
        self.at = len(self.text) if end < 0 else end

    def _simple(self) -> None:
        """Read one command, to whatever ends it."""
        assignments: list[tuple[str, Word]] = []
        words: list[Word] = []
        redirections: list[Redirection] = []
        start = self.at
        while self._goes_on():
            if self.sees("<(") or self.sees(">("):
                words.append(self._process())
                continue
            if self.here in "<>&":
                redirections.append(self._redirection())
                continue
            word = self.word()
            if self._is_descriptor(word):
                redirections.append(self._redirection())
            elif words:
                words.append(word)
            elif not assignments and not redirections and word.source in _SKIPPED:
                start = self.at
            elif word.source in _REFUSED or (word.source == "for" and (assignments or redirections)):
                self.fail(f"it uses {word.source}")
            elif word.source == "for":
                assignments.append(self._loop())
                break
            elif found := _ASSIGNMENT.match(word.source):
                if found[2] != "=" or self.here == "(":
                    self.fail("a list of values")
                assignments.append((found[1], word))
            else:
                words.append(word)
        if assignments or words or redirections:
            source = self.text[start : self.at].strip()
            self._commands.append(Command(tuple(assignments), tuple(words), tuple(redirections), source))
        if len(self._commands) > MOST_COMMANDS:
            self.fail("the line has too many commands")

    def _is_descriptor(self, word: Word) -> bool:
        """Say whether a word is the number of what the redirection right behind it is for."""
        if not self.here or self.here not in "<>":
            return False
        if word.source.startswith("{"):
            self.fail("a redirection into a variable")
        return word.source.isdigit()

    def _goes_on(self) -> bool:
        """Go to the next word of a command; say whether there is one."""
        self.skip_blanks()
        here = self.here
        if here == "(":
            self.fail("a function or a list of values")
        return bool(here) and here not in "\n;|)#" and (here != "&" or self.sees("&>"))

    def _loop(self) -> tuple[str, Word]:
        """Read the head of a loop, after its first word: it sets a variable, to values nobody knows."""
        self.skip_blanks()
        found = NAME.match(self.text, self.at)
        if found is None:
            self.fail("a loop that is not over words")
        self.at = found.end()
        self.skip_blanks()
        if self.here and self.here not in "\n;" and self.word().source != "in":
            self.fail("a loop that is not over words")
        self.skip_blanks()
        while self.here and self.here not in "\n;":
            if self.here in "&|()<>#":
                self.fail("a loop that is not over words")
            self.word()
            self.skip_blanks()
        return found[0], Word(found[0], found[0], frozenset({"variable"}))

    def _process(self) -> Word:
        """Read a command whose output, or input, is given to another as if it were a file."""
        start = self.at
        self.at += 2
        self.inside()
        source = self.text[start : self.at]
        return Word(source, source, frozenset({"command"}))

    def _redirection(self) -> Redirection:
        found = _REDIRECTION.match(self.text, self.at)
        if found is None:
            self.fail("a redirection")
        self.at = found.end()
        operator = found[0]
        self.skip_blanks()
        if operator in {"<<", "<<-"}:
            return self._document(operator)
        if self.sees("<(") or self.sees(">("):
            return Redirection(operator, self._process())
        if not self.here or self.here == "#" or self.here in ENDS:
            self.fail("a redirection to nowhere")
        return Redirection(operator, self.word())

    def _document(self, operator: str) -> Redirection:
        found = _DELIMITER.match(self.text, self.at)
        after = self.text[found.end() : found.end() + 1] if found else ""
        if found is None or (after and after not in ENDS):
            self.fail("a here-document with an odd end")
        self.at = found.end()
        self._awaited.append(_Document(found["name"], bool(found["quote"]), operator == "<<-"))
        self.is_awaiting = True
        return Redirection(operator, Word(found[0], found["name"]))

    def _documents(self) -> None:
        """Read the here-documents whose text begins on this line."""
        awaited, self._awaited, self.is_awaiting = self._awaited, [], False
        for one in awaited:
            lines: list[str] = []
            while True:
                end = self.text.find("\n", self.at)
                line = self.text[self.at :] if end < 0 else self.text[self.at : end]
                self.at = len(self.text) if end < 0 else end + 1
                if (line.lstrip("\t") if one.is_indented else line) == one.delimiter:
                    break
                if end < 0:
                    self.fail("a here-document that does not end")
                # The shell joins the next line to such a one, be it the delimiter.
                if not one.is_quoted and line.endswith("\\"):
                    self.fail("a here-document with a joined line")
                lines.append(line)
            if not one.is_quoted:
                inner = _Lines("\n".join(lines), self.depth + 1, self._commands)
                while inner.here:  # quotes mean nothing there
                    inner.quoted_character(set())
