"""One content block in the making: what was announced, and the deltas that follow, put together.

The kinds of delta are those of the API. One that is not known is added by what it holds: a text goes behind
the text of the same name, anything else takes the place of what was there.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast

if TYPE_CHECKING:
    from clew.agent.tool import Block

_TEXTS: Final = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}
"""The kinds of delta that a person can watch grow, and where their text is."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Some more of a block."""

    index: int
    kind: str
    """`text`, `thinking` or `input`: the last is JSON that is not whole yet."""

    text: str


class Building:
    """A block that has begun and not ended."""

    def __init__(self, index: int, block: Mapping[str, Any]) -> None:
        self._index = index
        self._block: Block = deepcopy(dict(block))
        self.announced: Block = deepcopy(self._block)
        self._texts: dict[str, list[str]] = {}
        self._held = ""
        self._held_kind = ""

    def add(self, delta: Mapping[str, Any]) -> Piece | None:
        """Take a delta; return what a person can watch of it, if that is anything."""
        kind = delta.get("type")
        match kind:
            case "text_delta" | "thinking_delta" | "input_json_delta":
                return self._grow(kind, delta.get(_TEXTS[kind]))
            case "signature_delta":
                self._block["signature"] = delta.get("signature")
            case "citations_delta":
                told = cast("object", self._block.get("citations"))
                earlier = cast("list[object]", told) if isinstance(told, list) else []
                self._block["citations"] = [*earlier, delta.get("citation")]
            case _:
                self._add_unknown(delta)
        return None

    def rest(self) -> Piece | None:
        """Return the half of a character that was held back in vain, if there is one."""
        held, self._held = self._held, ""
        return Piece(self._index, self._held_kind, _joined(held)) if held else None

    def whole(self) -> tuple[Block, str | None]:
        """Return the block, and the input of a call if that is broken."""
        for name in ("text", "thinking"):
            if name in self._texts:
                self._block[name] = _joined(str(self._block.get(name) or "") + "".join(self._texts[name]))
        written = _joined("".join(self._texts.get("input", ())))
        if written.strip():
            found = _object(written)
            self._block["input"] = {} if found is None else found
            return self._block, written if found is None else None
        if "input" in self._block and not isinstance(self._block["input"], Mapping):
            self._block["input"] = {}
        return self._block, None

    def _grow(self, kind: str, value: object) -> Piece:
        name = "input" if kind == "input_json_delta" else _TEXTS[kind]
        text = value if isinstance(value, str) else ""
        self._texts.setdefault(name, []).append(text)
        # Escaped, a character outside the first plane is two halves, and a delta may end between them.
        text = self._held + text
        self._held, self._held_kind = "", name
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._held = text[:-1], text[-1]
        return Piece(self._index, name, _joined(text))

    def _add_unknown(self, delta: Mapping[str, Any]) -> None:
        for name, value in delta.items():
            if name == "type":
                continue
            earlier = self._block.get(name)
            if isinstance(value, str) and isinstance(earlier, str):
                self._block[name] = earlier + value
            else:
                self._block[name] = value


def is_known(delta: Mapping[str, Any]) -> bool:
    """Say whether it is known how a delta is added."""
    return delta.get("type") in {*_TEXTS, "signature_delta", "citations_delta"}


def _joined(text: str) -> str:
    """Make characters of the halves that belong together; a half alone is none, and nobody takes it."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _object(written: str) -> dict[str, Any] | None:
    """Read the input of a call, which must be a JSON object, of what JSON has."""
    try:
        found: object = _mended(json.loads(written, parse_constant=_refuse, parse_float=_number))
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None


def _mended(value: object) -> object:
    """Put half characters right that were written as escapes, which no text shows."""
    match value:
        case str():
            return _joined(value)
        case dict():
            return {_joined(k): _mended(v) for k, v in cast("dict[str, object]", value).items()}
        case list():
            return [_mended(each) for each in cast("list[object]", value)]
        case _:
            return value


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)


def _number(written: str) -> float:
    number = float(written)
    if math.isinf(number):
        raise ValueError(written)
    return number
