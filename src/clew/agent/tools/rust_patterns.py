r"""Write a regular expression of ripgrep's for Python, or say that it is none.

The two differ in small things. Ripgrep's has no look-around and no references back, takes no brace for
itself, and has POSIX classes; a search by lines never matches a line end. What ripgrep would refuse is
refused here too; the few things that Python has no word for (`\p{...}`, classes inside classes) as well,
and that is said.

The text to be searched has bytes that are not UTF-8 as lone surrogates, which nothing but itself matches.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from clew.errors import ClewError

_BAD: Final = "\udc80-\udcff"
_REPEAT: Final = re.compile(r"\{([0-9]+)(,([0-9]*))?\}")
_MOST: Final = 1000
_POSIX: Final = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": "\\x00-\\x7f",
    "blank": "\\t ",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\t\\n\\v\\f\\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
}
_SIMPLE: Final = {"t": "\\t", "r": "\\r", "f": "\\f", "v": "\\v", "a": "\\a"}
_HEX: Final = re.compile(r"x\{([0-9A-Fa-f]+)\}|x([0-9A-Fa-f]{2})|u\{([0-9A-Fa-f]+)\}|u([0-9A-Fa-f]{4})")


class PatternError(ClewError):
    """The pattern is none, or none that can be searched for."""

    code = "bad-pattern"

    def __init__(self, pattern: str, why: str) -> None:
        super().__init__(f"regex parse error:\n    {pattern}\nerror: {why}")


def compiled(pattern: str, *, ignores_case: bool = False, is_multiline: bool = False) -> re.Pattern[str]:
    """Compile a pattern. Raise `PatternError`."""
    written = _Writer(pattern, is_multiline=is_multiline).write()
    flags = re.MULTILINE | (re.IGNORECASE if ignores_case else 0) | (re.DOTALL if is_multiline else 0)
    try:
        return re.compile(written, flags)
    except (re.error, OverflowError, RecursionError) as error:
        raise PatternError(pattern, str(error)) from None


@dataclass(slots=True)
class _Writer:
    """Goes over a pattern once, from left to right."""

    pattern: str
    is_multiline: bool
    at: int = 0
    can_repeat: bool = False
    """Whether there is something before that may be repeated."""

    def write(self) -> str:
        """Write the whole pattern."""
        parts: list[str] = []
        closing = [""]  # what ends each group that is open; the first is that of the whole pattern
        while self.at < len(self.pattern):
            character = self.pattern[self.at]
            if character == "(":
                opening, has_end = self._open()
                parts.append(opening)
                if has_end:
                    closing.append(")")
                else:  # a flag for the rest of the group
                    closing[-1] += ")"
                self.can_repeat = False
            elif character == ")":
                if len(closing) == 1:
                    raise self._error("unopened group")
                parts.append(closing.pop())
                self.at += 1
                self.can_repeat = True
            else:
                parts.append(self._one(character))
        if len(closing) > 1:
            raise self._error("unclosed group")
        return "".join([*parts, *closing])

    def _one(self, character: str) -> str:
        match character:
            case "[":
                return self._atom(self._class())
            case "\\":
                return self._escape()
            case "*" | "+" | "?" | "{":
                return self._repeat(character)
            case "|":
                self.at += 1
                self.can_repeat = False
                return "|"
            case "^" | "$":
                self.at += 1
                self.can_repeat = True
                return f"(?:{character})"
            case ".":
                self.at += 1
                return self._atom(f"[^{_BAD}]" if self.is_multiline else f"[^\\n{_BAD}]")
            case "\n" if not self.is_multiline:
                raise self._error('the literal "\\n" is not allowed in a regex')
            case _:
                self.at += 1
                return self._atom(re.escape(character))

    def _atom(self, written: str) -> str:
        self.can_repeat = True
        return written

    def _open(self) -> tuple[str, bool]:
        """Read how a group begins, and whether it has an end: a flag for the rest of one has none."""
        if self.pattern[self.at : self.at + 2] != "(?":
            self.at += 1
            return "(", True
        named = re.compile(r"\(\?P?<([A-Za-z_][A-Za-z0-9_]*)>").match(self.pattern, self.at)
        if named:
            self.at = named.end()
            return f"(?P<{named[1]}>", True
        flags = re.compile(r"\(\?([imsu]*)(?:-([imsu]+))?([:)])").match(self.pattern, self.at)
        if flags is None:
            raise self._error("look-around and this sort of group are not supported")
        on, off = flags[1].replace("u", ""), (flags[2] or "").replace("u", "")
        before = self.pattern[: self.at]
        self.at = flags.end()
        written = f"(?{on}{f'-{off}' if off else ''}:"
        if flags[3] == ":":
            return written, True
        if before and not before.endswith("("):
            raise self._error("flags are supported at the beginning of a group only")
        return written, False

    def _repeat(self, character: str) -> str:
        if not self.can_repeat:
            raise self._error("repetition operator missing expression")
        self.can_repeat = False
        if character != "{":
            self.at += 1
            written = character
        else:
            found = _REPEAT.match(self.pattern, self.at)
            if found is None:
                raise self._error("repetition quantifier expects a valid decimal")
            least, most = int(found[1]), int(found[3] or found[1])
            if least > most or most > _MOST:
                raise self._error("invalid or too large repetition")
            self.at = found.end()
            written = found[0]
        if self.pattern[self.at : self.at + 1] == "?":
            self.at += 1
            written += "?"
        return written

    def _escape(self) -> str:
        character = self.pattern[self.at + 1 : self.at + 2]
        rest = self.pattern[self.at + 1 :]
        self.at += 2
        end = "" if self.is_multiline else "\\n"
        match character:
            case "":
                raise self._error("incomplete escape sequence")
            case "d" | "w":
                return self._atom(f"\\{character}")
            case "s":
                return self._atom("\\s" if self.is_multiline else "[^\\S\\n]")
            case "D" | "W" | "S":
                return self._atom(f"[^\\{character.lower()}{end}{_BAD}]")
            case "b" | "B" | "A":
                return self._atom(f"(?:\\{character})")
            case "z":
                return self._atom("(?:\\Z)")
            case "n" if self.is_multiline:
                return self._atom("\\n")
            case "n":
                raise self._error('the literal "\\n" is not allowed in a regex')
            case "x" | "u":
                return self._atom(re.escape(self._code(rest)))
            case _ if character in _SIMPLE:
                return self._atom(_SIMPLE[character])
            case _ if character.isalnum():
                raise self._error(f"the escape \\{character} is not supported")
            case _:
                return self._atom(re.escape(character))

    def _code(self, rest: str) -> str:
        found = _HEX.match(rest)
        digits = next((one for one in found.groups() if one), "") if found else ""
        if found is None or int(digits, 16) > 0x10FFFF:
            raise self._error("invalid hexadecimal escape")
        self.at += found.end() - 1
        return chr(int(digits, 16))

    def _class(self) -> str:
        self.at += 1
        is_negated = self.pattern[self.at : self.at + 1] == "^"
        self.at += is_negated
        parts: list[str] = []
        is_first = True
        while True:
            character = self.pattern[self.at : self.at + 1]
            if not character:
                raise self._error("unclosed character class")
            if character == "]" and not is_first:
                self.at += 1
                break
            is_first = False
            parts.append(self._member(character))
        written = "".join(parts)
        if is_negated:
            return f"[^{written}{'' if self.is_multiline else chr(92) + 'n'}{_BAD}]"
        # Together, so that what repeats it repeats both: nothing at all matches before a line end too.
        return f"[{written}]" if self.is_multiline else f"(?:(?!\\n)[{written}])"

    def _member(self, character: str) -> str:
        two = self.pattern[self.at : self.at + 2]
        if two in ("&&", "--", "~~"):
            raise self._error("operations on classes are not supported")
        if character == "[":
            found = re.compile(r"\[:(\^?)([a-z]+):\]").match(self.pattern, self.at)
            if found is None or found[2] not in _POSIX or found[1]:
                raise self._error("classes inside classes are not supported")
            self.at = found.end()
            return _POSIX[found[2]]
        if character == "\\":
            inner = self.pattern[self.at + 1 : self.at + 2]
            if inner and inner in "dwsDWS":
                self.at += 2
                return f"\\{inner}"
            if inner and inner in "bBAz":
                raise self._error("invalid escape sequence found in character class")
            if inner == "n":
                self.at += 2
                return "\\n"
            return self._escape()
        self.at += 1
        return "-" if character == "-" else re.escape(character)

    def _error(self, why: str) -> PatternError:
        return PatternError(self.pattern, why)
