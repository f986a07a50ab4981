"""The one gate between session text and any place where characters act: terminals, plain text, JSON.

What a session says is untrusted: it holds web pages, tool output and escape sequences. What passes here is
printable, newlines and tabs. The terminal's own colours are `clew.faces.cli.terminal`.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_C1_NAMES = [
    "PAD", "HOP", "BPH", "NBH", "IND", "NEL", "SSA", "ESA", "HTS", "HTJ", "VTS", "PLD", "PLU", "RI",
    "SS2", "SS3", "DCS", "PU1", "PU2", "STS", "CCH", "MW", "SPA", "EPA", "SOS", "SGC", "SCI", "CSI", "ST",
    "OSC", "PM", "APC",
]  # fmt: skip

_NAMES = {
    **{0x80 + n: name for n, name in enumerate(_C1_NAMES)},
    **{0xFE00 + n: f"VS{n + 1}" for n in range(16)},
    0x00AD: "SHY", 0x034F: "CGJ", 0x061C: "ALM", 0x180B: "FVS1", 0x180C: "FVS2", 0x180D: "FVS3",
    0x180E: "MVS", 0x180F: "FVS4", 0x200B: "ZWSP", 0x200C: "ZWNJ", 0x200D: "ZWJ", 0x200E: "LRM",
    0x200F: "RLM", 0x2028: "LS", 0x2029: "PS", 0x202A: "LRE", 0x202B: "RLE", 0x202C: "PDF", 0x202D: "LRO",
    0x202E: "RLO", 0x2060: "WJ", 0x2066: "LRI", 0x2067: "RLI", 0x2068: "FSI", 0x2069: "PDI", 0xFEFF: "BOM",
}  # fmt: skip

# Everything that acts on a terminal or cannot be seen: controls, line separators, bidi controls, characters
# without width, surrogates, noncharacters. A few of them are kept where they do honest work; see _KEPT.
_SUSPECT = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ud800-\udfff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    + "".join(f"{chr(plane << 16 | 0xFFFE)}{chr(plane << 16 | 0xFFFF)}" for plane in range(1, 17))
)
_PICTURE = (
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff]"
    "[\ufe0e\ufe0f]?[\U0001f3fb-\U0001f3ff]?"
)
_JOINING = "[\u0620-\u06ff\u0750-\u077f\u0900-\u0dff]"
# Joined emoji, keycaps, variants of one ideograph, and the joiners that Persian and the Indic scripts are
# spelled with. Matched as whole sequences, so that no hidden character can lean on another hidden one.
_KEPT = (
    f"{_PICTURE}(?:\u200d{_PICTURE})*"
    "|[0-9#*]\ufe0f\u20e3"
    "|[\u3400-\u9fff\U00020000-\U0003fffd][\ufe00-\ufe02\U000e0100-\U000e01ef]"
    f"|(?<={_JOINING})[\u200c\u200d](?={_JOINING})"
)
_RUN = f"[{_SUSPECT}]+\n?"
_DELICATE = "[\u200c\u200d\ufe00-\ufe0f\U000e0020-\U000e007f\U000e0100-\U000e01ef]"
_TOKEN = f"(?P<kept>{_KEPT})|(?P<tags>[\U000e0020-\U000e007f]+)|\r\n|[{_SUSPECT}]"

# Made when the first text needs them: most commands write nothing but ASCII, and these take 8 ms.
_compiled = cache(re.compile)
_SAFE_ASCII = bytes((0x09, 0x0A, *range(0x20, 0x7F)))


@cache
def _symbol(char: str) -> str:
    """Draw one character that must not reach the terminal."""
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if 0xD800 <= code <= 0xDFFF or code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF:
        return "\ufffd"
    if 0xE0100 <= code <= 0xE01EF:
        return f"‹VS{code - 0xE0100 + 17}›"
    return f"‹{_NAMES.get(code) or f'U+{code:04X}'}›"


def _draw_run(match: re.Match[str]) -> str:
    """Draw a run of suspects. One carriage return before a newline is the line ending of Windows and goes."""
    run = match.group()
    if not run.endswith("\n"):
        return "".join(map(_symbol, run))
    return "".join(map(_symbol, run.removesuffix("\n").removesuffix("\r"))) + "\n"


def _draw_token(match: re.Match[str]) -> str:
    text = match.group()
    match match.lastgroup:
        case "kept":
            return text
        case "tags":
            # Invisible twins of ASCII, used to smuggle words past a reader: say them aloud.
            return f"‹TAG:{''.join(chr(ord(c) - 0xE0000) for c in text if c != chr(0xE007F))}›"
        case _:
            return "\n" if text == "\r\n" else _symbol(text)


def plain(text: str) -> str:
    """Make any text safe to show: printable characters, newlines and tabs only.

    Controls become visible symbols (␛, ␀), bidi controls and characters without width become labelled marks
    (‹RLO›, ‹ZWSP›), lone surrogates U+FFFD. Text that is already plain comes back as it is.
    """
    # Ten times as fast as the expression on 10 MB of ASCII (19 ms against 130 ms).
    if text.isascii():
        if not text.encode("ascii").translate(None, _SAFE_ASCII):
            return text
    elif _compiled(_RUN).search(text) is None:
        return text
    # Characters that are honest in some places need the slow, careful reading; most texts have none of them.
    if text.isascii() or _compiled(_DELICATE).search(text) is None:
        return _compiled(_RUN).sub(_draw_run, text)
    return _compiled(_TOKEN).sub(_draw_token, text)


_blank = re.compile("[ \n\t]+")


def one_line(text: str) -> str:
    """Make any text safe for one cell or one line: plain, with every run of white space one space."""
    return _blank.sub(" ", plain(text)).strip(" ")


def json_safe(document: str) -> str:
    """Make a JSON document safe to show without changing what it says: escape what `plain` would draw.

    A lone surrogate, which strict readers refuse, becomes U+FFFD. Outside its strings JSON is ASCII, so
    every character escaped here stands inside a string.
    """

    def escape(match: re.Match[str]) -> str:
        char = match.group()
        if 0xD800 <= ord(char) <= 0xDFFF:
            return "\ufffd"
        return "".join(f"\\u{unit:04x}" for unit in _utf16_units(char))

    if document.isascii() and not document.encode("ascii").translate(None, _SAFE_ASCII):
        return document
    return _compiled(f"[{_SUSPECT}]").sub(escape, document)


def _utf16_units(char: str) -> Iterator[int]:
    data = char.encode("utf-16-be")
    return (data[at] << 8 | data[at + 1] for at in range(0, len(data), 2))
