"""The one gate of the pages: whatever a session says leaves here as data or as text, never as markup."""

from __future__ import annotations

import re
from typing import Any, Final, cast

import msgspec

_ENCODER: Final = msgspec.json.Encoder()
_HIDDEN_BYTES: Final = re.compile(rb"\x7f|\xc2[\x80-\x9f]|\xe2\x80[\xa8\xa9]")
_HIDDEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufeff\ufff9-\ufffb]"
)
_CONTROLS: Final = bytes(byte for byte in (*range(32), 127) if byte not in b"\t\n")
_NAMES: Final = {
    0x061C: "ALM", 0x200B: "ZWSP", 0x200E: "LRM", 0x200F: "RLM", 0x2028: "LS", 0x2029: "PS",
    0x202A: "LRE", 0x202B: "RLE", 0x202C: "PDF", 0x202D: "LRO", 0x202E: "RLO",
    0x2060: "WJ", 0x2066: "LRI", 0x2067: "RLI", 0x2068: "FSI", 0x2069: "PDI", 0xFEFF: "BOM",
}  # fmt: skip


def encode(value: object) -> bytes:
    """Return a value as JSON that may stand inside a script element.

    Nothing in it can end the element or begin a comment in it: `<`, `>` and `&` are written as numbers, as
    are the line ends of JavaScript and what a terminal would take for a command.
    """
    return guard(_json(value))


def guard(raw: bytes) -> bytes:
    """Do the same for JSON that is there already. In JSON these bytes stand in strings only."""
    # Three passes at the speed of memchr: an expression over all of them is ten times slower.
    made = raw.replace(b"<", b"\\u003c").replace(b">", b"\\u003e").replace(b"&", b"\\u0026")
    if b"\x7f" in made or b"\xc2" in made or b"\xe2\x80" in made:
        made = _HIDDEN_BYTES.sub(_number, made)
    return made


def _number(found: re.Match[bytes]) -> bytes:
    return b"\\u%04x" % ord(found[0].decode())


def raw_json(value: object) -> bytes:
    """Return a value as JSON, not yet guarded."""
    return _json(value)


def _json(value: object) -> bytes:
    try:
        return _ENCODER.encode(value)
    except UnicodeEncodeError:  # half of a pair, which no encoding has
        return _ENCODER.encode(_whole(msgspec.to_builtins(value)))


def _whole(value: Any) -> Any:
    """The same value with U+FFFD for every half of a pair."""
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, dict):
        return {_whole(name): _whole(one) for name, one in cast("dict[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_whole(one) for one in cast("list[Any]", value)]
    return value


def text(said: str) -> str:
    """Return words as they stand in a page or in an attribute of it; what cannot be seen gets a sign."""
    if "\r" in said:
        said = said.replace("\r\n", "\n")
    if _may_hide(said):
        said = _HIDDEN.sub(_sign, said)
    said = said.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return said.replace('"', "&quot;").replace("'", "&#39;")


def _may_hide(said: str) -> bool:
    """Say whether there may be something in a text that cannot be seen."""
    if not said.isascii():
        return True
    # Several times as quick as the pattern, and most texts are of these letters alone.
    raw = said.encode("ascii")
    return len(raw.translate(None, _CONTROLS)) < len(raw)


def _sign(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if 0xD800 <= code <= 0xDFFF:
        return "\N{REPLACEMENT CHARACTER}"
    return f"[{_NAMES.get(code, f'U+{code:04X}')}]"
