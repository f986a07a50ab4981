"""Write a JSON document piece by piece, so that a long one is never held.

A mapping with iterators in it is opened up, and so is what those iterators give; everything else is written
as it stands. What JSON cannot say becomes null.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import cast

import orjson

_quote = json.JSONEncoder(ensure_ascii=False).encode


def pieces(value: object) -> Iterator[str]:
    """Give a document as pieces of text; a line may be broken between any two of them."""
    fields = cast("dict[str, object]", value) if isinstance(value, dict) else {}
    if not any(isinstance(field, Iterator) for field in fields.values()):
        yield whole(cast("object", value))
        return
    mark = "{"
    for name, field in fields.items():
        start = f"{mark}{_quote(name)}:"
        if isinstance(field, Iterator):
            yield f"{start}["
            yield from _items(cast("Iterator[object]", field))
            yield "]"
        else:
            yield start + whole(field)
        mark = ","
    yield "}"


def _items(items: Iterator[object]) -> Iterator[str]:
    comma = ""
    for item in items:
        for piece in pieces(item):
            yield comma + piece
            comma = ""
        comma = ","


def whole(value: object) -> str:
    """Return a value as JSON on one line, however deep or odd it is."""
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # half a character, a huge number, or nested deeper than it goes
        return "".join(_slowly(value))


def _slowly(value: object) -> Iterator[str]:
    """Write a value with a stack of our own: a session may hold a nest deeper than Python calls may be."""
    stack: list[Iterator[str | tuple[object]]] = [iter(((value,),))]
    while stack:
        step = next(stack[-1], None)
        if step is None:
            stack.pop()
        elif isinstance(step, str):
            yield step
        else:
            stack.append(_open(step[0]))


def _open(value: object) -> Iterator[str | tuple[object]]:
    """Give the text of a value, and the values inside it, each as a tuple of one, still to be written."""
    if isinstance(value, dict):
        fields = cast("dict[object, object]", value)
        mark = "{"
        for name, field in fields.items():
            yield f"{mark}{_quote(str(name))}:"
            yield (field,)
            mark = ","
        yield "}" if mark == "," else "{}"
    elif isinstance(value, list | tuple):
        mark = "["
        for item in cast("list[object]", value):
            yield mark
            yield (item,)
            mark = ","
        yield "]" if mark == "," else "[]"
    elif isinstance(value, str):
        yield _quote(value)
    elif isinstance(value, float):
        yield repr(value) if math.isfinite(value) else "null"
    elif value is None or isinstance(value, bool | int):
        yield json.dumps(value)
    else:
        yield _quote(str(value))
