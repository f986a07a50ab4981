"""What a terminal sends when somebody types, read as keys. Nothing here touches a terminal."""

from __future__ import annotations

import codecs
import re
from typing import Final, NamedTuple

PASTE_END: Final = "\x1b[201~"
_MOST_PASTED: Final = 16 << 20
"""Characters after which a paste is handed over though its end did not come."""


class Key(NamedTuple):
    """A key, or a run of text that was typed (`text`) or pasted (`paste`)."""

    name: str
    text: str = ""


_FINAL: Final = {"A": "up", "B": "down", "C": "right", "D": "left", "H": "home", "F": "end", "Z": "shift-tab"}
_TILDE: Final = {
    "1": "home", "3": "delete", "4": "end", "5": "page-up", "6": "page-down", "7": "home", "8": "end",
}  # fmt: skip
_CONTROL: Final = {"\r": "enter", "\t": "tab", "\x7f": "backspace", "\x08": "backspace", "\x00": "ctrl-space"}
_CODES: Final = {9: "tab", 13: "enter", 27: "escape", 127: "backspace"}
_SEQUENCE: Final = re.compile(r"\x1b(?:\[([0-9;:<=>?]*)([ -/]*)([@-~])|O(.)|([^\[O]))", re.DOTALL)
_LONGEST: Final = 64
"""A sequence that has not ended by then is none."""


class Decoder:
    """Takes bytes as they come and gives keys. A lone Esc is told from a longer sequence by `late`."""

    def __init__(self) -> None:
        self._utf8 = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""
        self._pasted: list[str] | None = None
        self._length = 0

    @property
    def is_waiting(self) -> bool:
        """Whether what came may be the beginning of a longer sequence."""
        return bool(self._held) and self._pasted is None

    def feed(self, data: bytes) -> list[Key]:
        """Read what came."""
        self._held += self._utf8.decode(data)
        keys: list[Key] = []
        while self._held:
            if self._pasted is not None:
                if not self._paste(keys):
                    break
            elif self._held[0] == "\x1b":
                if not self._escape(keys):
                    break
            else:
                self._plain(keys)
        return keys

    def late(self) -> list[Key]:
        """Say what it was when nothing more came for a moment."""
        if not self.is_waiting:
            return []
        held, self._held = self._held, ""
        return [Key("escape")] if held == "\x1b" else [Key("unknown")]

    def _plain(self, keys: list[Key]) -> None:
        at = 0
        while at < len(self._held) and self._held[at] >= " " and self._held[at] != "\x7f":
            at += 1
        if at:
            keys.append(Key("text", self._held[:at]))
            self._held = self._held[at:]
            return
        keys.append(Key(_control(self._held[0])))
        self._held = self._held[1:]

    def _escape(self, keys: list[Key]) -> bool:
        """Read one sequence; say whether it was whole."""
        if self._held.startswith("\x1b\x1b"):
            keys.append(Key("escape"))
            self._held = self._held[1:]
            return True
        found = _SEQUENCE.match(self._held)
        if found is None:
            if len(self._held) < _LONGEST:
                return False
            self._held = self._held[1:]
            keys.append(Key("unknown"))
            return True
        self._held = self._held[found.end() :]
        given, _, final, single, letter = found.groups()
        if single is not None:
            keys.append(Key(_FINAL.get(single, "unknown")))
        elif letter is not None:
            keys.append(Key(f"alt-{letter if letter >= ' ' and letter != chr(127) else _control(letter)}"))
        elif final == "~" and given == "200":
            self._pasted, self._length = [], 0
        else:
            keys.append(Key(_csi(given, final)))
        return True

    def _paste(self, keys: list[Key]) -> bool:
        """Take more of a paste; say whether there is anything behind it."""
        pasted = self._pasted if self._pasted is not None else []
        text, end, rest = self._held.partition(PASTE_END)
        if not end:
            # The end may have come in part: that much stays.
            kept = next((n for n in range(len(PASTE_END) - 1, 0, -1) if text.endswith(PASTE_END[:n])), 0)
            text, rest = text[: len(text) - kept], text[len(text) - kept :]
        pasted.append(text)
        self._length += len(text)
        self._held = rest
        if not end and self._length < _MOST_PASTED:
            return False
        self._pasted = None
        keys.append(Key("paste", "".join(pasted).replace("\r\n", "\n").replace("\r", "\n")))
        return True


def _control(char: str) -> str:
    if char in _CONTROL:
        return _CONTROL[char]
    code = ord(char)
    return f"ctrl-{chr(code + 96)}" if 1 <= code <= 26 else "unknown"


def _csi(given: str, final: str) -> str:
    """Name a key by its sequence; Shift, Alt and Ctrl stand in front where they change what it does."""
    numbers = given.split(";")
    if final == "u" or (final == "~" and numbers[0] == "27" and len(numbers) == 3):
        # Terminals that tell every key by its number: CSI code ; modifiers u, or CSI 27 ; modifiers ; code ~.
        code, modifiers = (numbers[0], numbers[1:2]) if final == "u" else (numbers[2], numbers[1:2])
        return _by_code(code.partition(":")[0], modifiers[0] if modifiers else "1")
    base = _TILDE.get(numbers[0]) if final == "~" else _FINAL.get(final)
    if base is None:
        return "unknown"
    return _modified(base, numbers[1] if len(numbers) > 1 else "1")


def _by_code(code: str, modifiers: str) -> str:
    if not (code.isascii() and code.isdigit() and len(code) < 7):
        return "unknown"
    number = int(code)
    if number in _CODES:
        return _modified(_CODES[number], modifiers)
    letter = chr(number) if 32 < number < 127 else ""
    return _modified(letter, modifiers) if letter else "unknown"


def _modified(base: str, modifiers: str) -> str:
    digits = modifiers.partition(":")[0]
    bits = int(digits) - 1 if digits.isascii() and digits.isdigit() and len(digits) < 4 else 0
    if bits & 4:
        return f"ctrl-{base}"
    if bits & 2:
        return f"alt-{base}"
    if bits & 1 and len(base) > 1:
        return f"shift-{base}"
    return base
