"""Change a JSON text here and there and leave every other byte as it is: for files that people write.

A text is read into nodes that know where they stand. Each change gives a new text, to be read anew. New parts
are indented as those around them. Nothing here knows settings or hooks.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_SCALAR: Final = re.compile(r"-?[0-9.eE+-]+|true|false|null")
_DEEPEST: Final = 200
_DECODER: Final = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Node:
    """A value and where it stands."""

    kind: Literal["object", "array", "text", "other"]
    start: int
    end: int
    key: str | None = None
    """Its name in the object it stands in."""

    key_start: int = 0
    """Where it begins, its name included."""

    text: str = ""
    """What a text says."""

    inside: tuple[Node, ...] = ()

    def member(self, key: str) -> Node | None:
        """Return the member of that name; of several the last, which is the one that counts."""
        return next((node for node in reversed(self.inside) if node.key == key), None)


class NotJsonError(ValueError):
    """A text is no JSON; says where."""


def read(text: str) -> Node:
    """Read a text that holds one JSON value."""
    try:
        json.loads(text.removeprefix("\ufeff"))  # the strict judge; what follows relies on it
    except json.JSONDecodeError as error:
        raise NotJsonError(f"line {error.lineno}, column {error.colno}: {error.msg}") from error
    except RecursionError as error:
        raise NotJsonError("it is nested too deeply") from error
    start = 1 if text.startswith("\ufeff") else 0
    node, _ = _value(text, _skip(text, start), depth=0)
    return node


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _value(
    text: str, at: int, *, depth: int, key: str | None = None, key_start: int = -1
) -> tuple[Node, int]:
    if depth > _DEEPEST:
        raise NotJsonError("it is nested too deeply")
    start = at
    first = text[at]
    begin = start if key is None else key_start
    if first == '"':
        said, at = _string(text, at)
        return Node("text", start, at, key, begin, said), at
    if first not in "{[":
        found = _SCALAR.match(text, at)
        at = found.end() if found else at + 1
        return Node("other", start, at, key, begin), at
    inside: list[Node] = []
    at = _skip(text, at + 1)
    while text[at] not in "}]":
        name, name_start = None, at
        if first == "{":
            name, at = _string(text, at)
            at = _skip(text, _skip(text, at) + 1)
        node, at = _value(text, at, depth=depth + 1, key=name, key_start=name_start)
        inside.append(node)
        at = _skip(text, at)
        if text[at] == ",":
            at = _skip(text, at + 1)
    kind = "object" if first == "{" else "array"
    return Node(kind, start, at + 1, key, begin, "", tuple(inside)), at + 1


def _string(text: str, at: int) -> tuple[str, int]:
    said, end = _DECODER.raw_decode(text, at)
    return str(said), end


def dump(value: object) -> str:
    """Return a value as text on one line."""
    return json.dumps(value, ensure_ascii=False)


def replace(text: str, node: Node, value: object) -> str:
    """Put a value in the place of another."""
    return text[: node.start] + dump(value) + text[node.end :]


def add(text: str, container: Node, value: object, *, key: str | None = None) -> str:
    """Add a value at the end of an object, under a key, or of a list."""
    named = "" if key is None else f"{dump(key)}: "
    unit, newline = _indent(text), "\r\n" if "\r\n" in text else "\n"
    outer = _line_indent(text, container)
    if not container.inside:
        if unit is None:
            return text[: container.start + 1] + named + dump(value) + text[container.end - 1 :]
        inner = outer + unit
        body = newline + inner + named + _pretty(value, unit, inner, newline) + newline + outer
        return text[: container.start + 1] + body + text[container.end - 1 :]
    last = container.inside[-1]
    before = text[container.start + 1 : container.inside[0].key_start]
    if unit is None or "\n" not in before:
        space = " " if ", " in text or '": ' in text else ""
        short = json.dumps(value, ensure_ascii=False, separators=None if space else (",", ":"))
        named = named if space else named.replace('": ', '":')
        return f"{text[: last.end]},{space}{named}{short}{text[last.end :]}"
    inner = before[before.rfind("\n") + 1 :]
    body = "," + newline + inner + named + _pretty(value, unit, inner, newline)
    return text[: last.end] + body + text[last.end :]


def remove(text: str, container: Node, node: Node) -> str:
    """Take a value out of the object or list that it stands in."""
    place = container.inside.index(node)
    if len(container.inside) == 1:
        return text[: container.start + 1] + text[container.end - 1 :]
    if place:
        return text[: container.inside[place - 1].end] + text[node.end :]
    return text[: node.key_start] + text[container.inside[1].key_start :]


def _indent(text: str) -> str | None:
    """Return by how much the text is indented; None if all of it stands on one line."""
    found = re.search(r"[\[{,][ \t]*\r?\n([ \t]+)[\"\[{]", text)
    if found:
        return found[1]
    return None if re.search(r"[^\s{}\[\]\ufeff]", text) and "\n" not in text.strip() else "  "


def _line_indent(text: str, node: Node) -> str:
    """Return how far the line is indented on which a value begins."""
    line = text[text.rfind("\n", 0, node.start) + 1 : node.start].removeprefix("\ufeff")
    return line[: len(line) - len(line.lstrip(" \t"))]


def _pretty(value: object, unit: str, inner: str, newline: str) -> str:
    lines: Sequence[str] = json.dumps(value, ensure_ascii=False, indent=unit).split("\n")
    return (newline + inner).join(lines)
