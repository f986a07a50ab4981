"""The parts as JSON, for the web app and the exported page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, cast

import msgspec

from clew.format import fields
from clew.format.decode import encode as encode_plainly

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew.view.parts import Agent, Flow, Head, Part, TurnHead, Work

_ENCODER: Final = msgspec.json.Encoder()
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def encode(value: Flow | Part | Head | TurnHead | Agent | Work) -> bytes:
    """Return a part as JSON; half of a surrogate pair, which no reader takes, becomes U+FFFD."""
    try:
        return _ENCODER.encode(value)
    except (UnicodeEncodeError, OverflowError):
        return encode_plainly(_mended(msgspec.to_builtins(value)))


def _mended(value: object) -> object:
    if isinstance(value, list | tuple):
        return [_mended(one) for one in cast("Sequence[object]", value)]
    named = fields.as_mapping(value)
    if named is not None:
        return {key: _mended(one) for key, one in named.items()}
    return _SURROGATE.sub("\ufffd", value) if isinstance(value, str) else value
