"""Decode one record: strictly and fast where it can be, tolerantly where it must be.

The decoders differ in what they forgive. The client's own (JavaScript's `JSON.parse`) takes lone
surrogates, numbers of any size and, after replacement, bytes that are no UTF-8; it does not take
NaN. What was forgiven is kept as a `quirk`, so that a check can name it.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any, Final, Literal, cast

import orjson
from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Mapping

Quirk = Literal["invalid-utf8", "lone-surrogate", "nan", "huge-number"]
Reason = Literal["malformed", "too-deep", "not-an-object"]


class Decoded(Struct, frozen=True):
    """A record and what had to be forgiven to read it."""

    data: Mapping[str, Any]
    quirks: frozenset[Quirk] = frozenset()

    @property
    def is_json(self) -> bool:
        """Whether a JSON parser, the client's among them, takes the line."""
        return "nan" not in self.quirks


class DecodeError(ValueError):
    """The bytes are no record."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason: Reason = reason


_NOTHING: Final[frozenset[Quirk]] = frozenset()
_TOO_DEEP: Final = ("depth limit", "Recursion limit")
"""How the fast decoder, now and in its older versions, says that it stops at 1024 levels."""


def decode(raw: bytes) -> Decoded:
    """Decode the record `raw`, or raise `DecodeError`."""
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        if error.msg.startswith(_TOO_DEEP):
            # Not left to the standard decoder: how deep that one goes depends on who calls it.
            raise DecodeError("too-deep") from None
        return _decode_tolerantly(raw)
    if not isinstance(value, dict):
        raise DecodeError("not-an-object")
    return Decoded(cast("dict[str, Any]", value), _NOTHING)


class _Numbers:
    """Number hooks for the standard decoder that never raise and remember what they met."""

    def __init__(self) -> None:
        self.quirks: set[Quirk] = set()

    def constant(self, text: str) -> float:
        self.quirks.add("nan")
        return float(text.replace("Infinity", "inf"))

    def integer(self, text: str) -> int | float:
        # As the fast decoder does: what 64 bits cannot hold becomes a float.
        if len(text) <= 20 and -(2**63) <= (value := int(text)) < 2**64:
            return value
        return self.real(text)

    def real(self, text: str) -> float:
        value = float(text)
        if math.isinf(value):
            self.quirks.add("huge-number")
        return value


def _decode_tolerantly(raw: bytes) -> Decoded:
    numbers = _Numbers()
    quirks = numbers.quirks
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = raw.decode("utf-8", "replace")
        quirks.add("invalid-utf8")
    decoder = json.JSONDecoder(
        parse_constant=numbers.constant, parse_int=numbers.integer, parse_float=numbers.real
    )
    try:
        value: object = decoder.decode(text)
    except json.JSONDecodeError:
        raise DecodeError("malformed") from None
    except RecursionError:
        raise DecodeError("too-deep") from None
    if is_deep(raw):
        raise DecodeError("too-deep")
    if not isinstance(value, dict):
        raise DecodeError("not-an-object")
    if _LONE.search(raw) and has_lone_surrogate(cast("dict[str, Any]", value)):
        quirks.add("lone-surrogate")
    return Decoded(cast("dict[str, Any]", value), frozenset(quirks))


DEEPEST: Final = 300
"""How far values may nest on the slow road. Its decoders use the stack, of which a caller has left more or
less; a bound well below what is always there makes the answer the same for all of them."""

_STRUCTURE = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[{}\[\]]', re.DOTALL)


def is_deep(raw: bytes) -> bool:
    """Say whether values in `raw` nest deeper than `DEEPEST`."""
    if raw.count(b"{") + raw.count(b"[") <= DEEPEST:
        return False
    depth = 0
    for token in _STRUCTURE.finditer(raw):
        mark = token.group()
        if mark in (b"{", b"["):
            depth += 1
            if depth > DEEPEST:
                return True
        elif mark in (b"}", b"]"):
            depth -= 1
    return False


_LONE = re.compile(rb"\\u[dD][89a-fA-F]")


def has_lone_surrogate(value: object) -> bool:
    """Say whether any string in `value` holds half of a surrogate pair."""
    try:
        orjson.dumps(value)
    except TypeError:
        pass  # it holds half a pair, or a number too large; which of them is found out slowly
    else:
        return False
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return True
    except RecursionError:
        return False
    return False


def encode(value: object) -> bytes:
    """Write `value` as the client does: compact, UTF-8 unescaped; a lone surrogate stays an escape."""
    try:
        return orjson.dumps(value)
    except TypeError:
        pass
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # Only half of a surrogate pair cannot be encoded, and it stands in a string: its escape is JSON's.
    return text.encode("utf-8", "backslashreplace")
