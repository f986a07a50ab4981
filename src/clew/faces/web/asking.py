"""What may be asked, and how a request is read: said once, for the code and for the document."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, cast
from urllib.parse import parse_qsl

import orjson

from clew.errors import UsageError
from clew.faces.web.answers import LeftError, NotFoundError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

MOST_TEXT: Final = 4_096
_MOST_FIELDS: Final = 40
_NUMBER: Final = re.compile(r"[0-9]{1,15}")
_TRUTH: Final = {"true": True, "1": True, "false": False, "0": False}

Kind = Literal["string", "integer", "boolean"]


@dataclass(frozen=True, slots=True)
class Field:
    """One thing that can be said in a query, in a path or in a body."""

    name: str
    kind: Kind
    help: str
    choices: Sequence[str] = ()
    least: int | None = None
    most: int | None = None
    default: str | int | bool | None = None
    is_required: bool = False
    is_list: bool = False
    """Of texts; in a body only."""

    def schema(self) -> dict[str, object]:
        """Return it as a JSON schema."""
        found: dict[str, object] = {"type": self.kind}
        if self.choices:
            found["enum"] = list(self.choices)
        elif self.kind == "string":
            found |= {"minLength": 1, "maxLength": MOST_TEXT}
        if self.least is not None:
            found["minimum"] = self.least
        if self.most is not None:
            found["maximum"] = self.most
        if self.is_list:
            return {"type": "array", "items": found, "maxItems": _MOST_FIELDS}
        return found if self.default is None else {**found, "default": self.default}


def text(name: str, help_: str, *, choices: Sequence[str] = (), default: str | None = None) -> Field:
    """Return a field for a text."""
    return Field(name, "string", help_, choices, default=default)


def number(name: str, help_: str, *, least: int = 0, most: int, default: int | None = None) -> Field:
    """Return a field for a number."""
    return Field(name, "integer", help_, (), least, most, default)


def flag(name: str, help_: str, *, default: bool = False) -> Field:
    """Return a field for yes or no."""
    return Field(name, "boolean", help_, default=default)


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that was understood."""

    path: Mapping[str, str] = field(default_factory=dict[str, str])
    said: Mapping[str, object] = field(default_factory=dict[str, object])
    is_left: Callable[[], bool] = lambda: False
    """Whether nobody waits for the answer any more, as far as anybody looks."""

    def go_on(self) -> None:
        """End the work with an error if nobody waits for it any more."""
        if self.is_left():
            raise LeftError("nobody waits for the answer")

    def text(self, name: str) -> str | None:
        """Return a text, None where it was not said."""
        return cast("str | None", self.said.get(name))

    def number(self, name: str) -> int | None:
        """Return a number, None where it was not said."""
        return cast("int | None", self.said.get(name))

    def count(self, name: str) -> int:
        """Return a number that is always there, for it has a default."""
        return cast("int", self.said[name])

    def flag(self, name: str) -> bool:
        """Say whether something is wanted."""
        return bool(self.said.get(name))

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts."""
        return tuple(cast("Sequence[str]", self.said.get(name) or ()))


def read_query(fields: Sequence[Field], query: bytes) -> dict[str, object]:
    """Read what stands behind the question mark; what nobody knows, or is said twice, is an error."""
    try:
        pairs = parse_qsl(
            query.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=bool(query),
            errors="strict",
            max_num_fields=_MOST_FIELDS,
        )
    except ValueError:  # a UnicodeDecodeError is one too
        raise UsageError("the query cannot be read") from None
    known = {one.name: one for one in fields}
    said: dict[str, object] = {}
    for name, value in pairs:
        if name not in known:
            raise UsageError(f"there is no {name[:60]!r} here", hint=_listed(known))
        if name in said:
            raise UsageError(f"{name} is said twice")
        said[name] = _checked(known[name], _of_text(known[name], value))
    return _completed(fields, said)


def read_body(fields: Sequence[Field], body: bytes) -> dict[str, object]:
    """Read what a body says, as one JSON object."""
    try:
        given: object = orjson.loads(body or b"{}")
    except ValueError:
        given = None
    if not isinstance(given, dict):
        raise UsageError("the body has to be one JSON object")
    known = {one.name: one for one in fields}
    said: dict[str, object] = {}
    for name, value in cast("dict[str, object]", given).items():
        if name not in known:
            raise UsageError(f"there is no {name[:60]!r} here", hint=_listed(known))
        if value is not None:
            said[name] = _of_json(known[name], value)
    return _completed(fields, said)


def read_number(path: Mapping[str, str], name: str) -> int:
    """Return a number in a path."""
    value = path[name]
    if not _NUMBER.fullmatch(value):
        raise NotFoundError(f"{value[:60]!r} is no number of a turn")
    return int(value)


def _completed(fields: Sequence[Field], said: dict[str, object]) -> dict[str, object]:
    for one in fields:
        if one.name in said:
            continue
        if one.is_required:
            raise UsageError(f"{one.name} is missing")
        if one.default is not None:
            said[one.name] = one.default
    return said


def _of_text(one: Field, value: str) -> object:
    if one.kind == "integer":
        if not _NUMBER.fullmatch(value):
            raise UsageError(f"{one.name} has to be a number")
        return int(value)
    if one.kind == "boolean":
        if value not in _TRUTH:
            raise UsageError(f"{one.name} has to be true or false")
        return _TRUTH[value]
    return value


def _of_json(one: Field, value: object) -> object:
    if one.is_list:
        items = cast("Sequence[object]", value) if isinstance(value, list | tuple) else None
        if items is None or len(items) > _MOST_FIELDS or not all(isinstance(item, str) for item in items):
            raise UsageError(f"{one.name} has to be a list of at most {_MOST_FIELDS} texts")
        return tuple(cast("str", _checked(one, item)) for item in items)
    kinds = {"string": str, "integer": int, "boolean": bool}
    if type(value) is not kinds[one.kind]:  # a bool is an int too
        raise UsageError(f"{one.name} has to be a {one.kind}")
    return _checked(one, value)


def _checked(one: Field, value: object) -> object:
    if isinstance(value, str):
        if one.choices and value not in one.choices:
            raise UsageError(f"{one.name} cannot be {value[:60]!r}", hint=f"one of: {', '.join(one.choices)}")
        if not value or len(value) > MOST_TEXT or "\0" in value:
            raise UsageError(f"{one.name} has to have 1 to {MOST_TEXT:,} characters")
        if any("\ud800" <= letter <= "\udfff" for letter in value):
            raise UsageError(f"{one.name} is no text")
    elif one.kind == "integer" and isinstance(value, int):
        least, most = one.least or 0, one.most or 0
        if not least <= value <= most:
            raise UsageError(f"{one.name} has to be from {least:,} to {most:,}")
    return value


def _listed(known: Mapping[str, Field]) -> str:
    return f"one of: {', '.join(known)}" if known else "nothing can be said here"
