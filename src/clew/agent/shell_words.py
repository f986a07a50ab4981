"""Read the words of a line for a shell: quotes, and what the shell puts in their place when it runs.

What is not understood for certain is never guessed at: reading then ends with `NotUnderstoodError`. How words
make commands is for `shell_lines`. The shell meant is bash, started without a terminal: no aliases, no
history, no extended patterns.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal, NoReturn

Need = Literal["status", "variable", "command", "glob", "brace", "tilde", "quote"]
"""What the shell puts in the place of a part of a word when it runs."""

MOST_CHARACTERS: Final = 50_000
MOST_DEPTH: Final = 12

BLANKS: Final = " \t"
ENDS: Final = frozenset(" \t\n;&|()<>")
"""What ends a word."""

NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_BRACED: Final = re.compile(
    # Only what cannot run anything: `${x@P}`, `${!x}`, `${x[…]}` and `${x:=…}` can, or change something.
    r"\{(?:#?[A-Za-z_][A-Za-z0-9_]*|[0-9?#*@]|[A-Za-z_][A-Za-z0-9_]*(?::?-|##?|%%?|//?)[A-Za-z0-9_./*\-]*"
    r"|[A-Za-z_][A-Za-z0-9_]*:[0-9]+(?::[0-9]+)?)\}"
)
_NUMBERS: Final = re.compile(r"\(\([0-9+\-*/% ]*\)\)")
"""A sum of plain numbers: a name in it could stand for a text with a command in it."""

_ESCAPED: Final = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL)
_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


class NotUnderstoodError(Exception):
    """The line is not understood for certain."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a command."""

    source: str
    """As it was written."""

    text: str
    """Without its quotes. What the shell would put in is left as it was written."""

    needs: frozenset[Need] = frozenset()

    @property
    def is_literal(self) -> bool:
        """Whether the program gets this very text."""
        return not self.needs


class WordReader:
    """Reads a line once from left to right, as the shell does."""

    def __init__(self, text: str, depth: int) -> None:
        self.text = text
        self.at = 0
        self.depth: int = depth
        self.is_awaiting = False
        """Whether a here-document was begun on this line: where the shell looks for its text when the line
        goes on inside quotes is not worth knowing."""

        if len(text) > MOST_CHARACTERS:
            self.fail("the line is too long")
        if depth > MOST_DEPTH:
            self.fail("the line is nested too deep")
        if _CONTROL.search(text):
            self.fail("the line has control characters in it")

    def inside(self) -> None:
        """Read the commands of a bracket, and the bracket that closes it."""
        raise NotImplementedError

    def nested(self, text: str) -> None:
        """Read a text of its own as a list of commands."""
        raise NotImplementedError

    def fail(self, why: str) -> NoReturn:
        """Give up."""
        raise NotUnderstoodError(why)

    def sees(self, text: str) -> bool:
        """Say whether this comes next."""
        return self.text.startswith(text, self.at)

    @property
    def here(self) -> str:
        """The next character; nothing at the end."""
        return self.text[self.at : self.at + 1]

    def skip_blanks(self) -> None:
        """Go on to what is neither a blank nor the joint of two lines."""
        while self.here and (self.here in BLANKS or self.sees("\\\n")):
            if self.here == "\\" and not self._is_apart():
                self.fail("two lines are joined in an odd place")
            self.at += 1 if self.here in BLANKS else 2

    def _is_apart(self) -> bool:
        """Whether the joint of two lines that comes next cannot glue two signs together, as `$` and `(`."""
        before, after = self.text[max(0, self.at - 1) : self.at], self.text[self.at + 2 : self.at + 3]
        return before in {"", "\n", *BLANKS} or after in {"", "\n", *BLANKS}

    def word(self) -> Word:
        """Read one word."""
        start = self.at
        parts: list[str] = []
        needs: set[Need] = {"tilde"} if self.here == "~" else set()
        while self.here and self.here not in ENDS:
            here = self.here
            if self.sees("\\\n"):
                if self._is_apart():
                    break
                self.fail("two lines are joined inside a word")
            if here == "\\":
                parts.append(self._backslash())
            elif here == "'":
                parts.append(self._until("'"))
            elif here == '"':
                parts.append(self._double(needs))
            elif self.sees("$'"):
                parts.append(self._escaped(needs))
            elif self.sees('$"'):
                self.fail("a translated text")
            elif here in "$`":
                parts.append(self.expansion(needs))
            else:
                if here in "*?[":
                    needs.add("glob")
                elif here == "{" and not self.sees("{}"):
                    needs.add("brace")
                parts.append(here)
                self.at += 1
        source = self.text[start : self.at]
        if source in {"{", "[", "]"}:  # the names of commands
            needs.clear()
        return Word(source, "".join(parts), frozenset(needs))

    def _backslash(self) -> str:
        after = self.text[self.at + 1 : self.at + 2]
        if not after:
            self.fail("the line ends in a backslash")
        self.at += 2
        return after

    def _until(self, quote: str) -> str:
        end = self.text.find(quote, self.at + 1)
        if end < 0:
            self.fail("a quote is not closed")
        inside = self.text[self.at + 1 : end]
        self._in_one_line(inside)
        self.at = end + 1
        return inside

    def _in_one_line(self, inside: str) -> None:
        if self.is_awaiting and "\n" in inside:
            self.fail("a here-document begins before a quote")

    def _double(self, needs: set[Need]) -> str:
        parts: list[str] = []
        self.at += 1
        start = self.at
        while self.here != '"':
            if not self.here:
                self.fail("a quote is not closed")
            parts.append(self.quoted_character(needs))
        self._in_one_line(self.text[start : self.at])
        self.at += 1
        return "".join(parts)

    def quoted_character(self, needs: set[Need]) -> str:
        """Read one character, or what stands for some, between double quotes."""
        if self.here == "\\":
            after = self.text[self.at + 1 : self.at + 2]
            if after == "\n" and self.text[self.at - 1] == "$":
                self.fail("two lines are joined inside a word")
            self.at += 2
            if after == "\n":
                return ""
            return after if after and after in '$`"\\' else f"\\{after}"
        if self.here in "$`":
            return self.expansion(needs)
        self.at += 1
        return self.text[self.at - 1]

    def _escaped(self, needs: set[Need]) -> str:
        """Read a text with escapes in it: what they stand for is not worked out."""
        found = _ESCAPED.match(self.text, self.at)
        if found is None:
            self.fail("a quote is not closed")
        self._in_one_line(found[1])
        self.at = found.end()
        if "\\" in found[1]:
            needs.add("quote")
        return found[1]

    def expansion(self, needs: set[Need]) -> str:
        """Read what begins with a dollar or a backtick."""
        start = self.at
        if self.here == "`":
            inside = self._until("`")
            if "\\" in inside:
                self.fail("a backslash between backticks")
            needs.add("command")
            self.nested(inside)
        elif self.sees("$(("):
            numbers = _NUMBERS.match(self.text, self.at + 1)
            if numbers is None:
                self.fail("it calculates")
            self.at = numbers.end()
        elif self.sees("$("):
            self.at += 2
            needs.add("command")
            self.inside()
        elif self.sees("${"):
            found = _BRACED.match(self.text, self.at + 1)
            if found is None:
                self.fail("a variable is used in an odd way")
            needs.add("status" if found[0] == "{?}" else "variable")
            self.at = found.end()
        elif self.sees("$["):
            self.fail("it calculates")
        elif found := NAME.match(self.text, self.at + 1):
            needs.add("variable")
            self.at = found.end()
        elif self.text[self.at + 1 : self.at + 2] in tuple("?$!#@*-0123456789"):
            needs.add("status" if self.sees("$?") else "variable")
            self.at += 2
        else:
            self.at += 1
        return self.text[start : self.at]
