"""What clew knows of the format: which kinds of entry there are, which fields, and in which client versions.

Nothing here judges a line. An unknown kind, field or block is kept and shown like any other; it is listed
only so that `clew drift` can say what the client has begun to write, and so that the reference in
`docs/format.md` is made from the same tables. The tables are in `known_fields` and `known_parts`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, Literal, cast

from clew.format import known_parts as parts
from clew.format.fields import as_mapping
from clew.format.known_fields import FIELDS, VERSIONS

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "PART",
    "UNTYPED",
    "VERSIONS",
    "What",
    "fields_of",
    "is_known_block",
    "is_known_field",
    "is_known_type",
    "kind_of",
    "kinds",
    "marks",
    "unknown_in",
    "versions_of",
]

What = Literal["type", "subtype", "field", "block"]
"""What kind of thing is unknown."""

UNTYPED: Final = "untyped"
"""The kind of an entry that has no `type` and no `message.role` either."""

PART: Final[Mapping[str, str]] = {
    "attachment": "attachment",
    "file-history-snapshot": "snapshot",
    "progress": "data",
    "system/compact_boundary": "compactMetadata",
}
"""By type or kind, the field whose own fields are known too."""

_ROLES: Final = frozenset({"user", "assistant"})
_NOT_SEEN: Final = "." * len(VERSIONS)


def kind_of(data: Mapping[str, object]) -> str:
    """Name the kind of an entry: its type, and after a slash its subtype where the type has some.

    `user` and `assistant` are never divided. An entry without a type is named by the role of its message.
    """
    kind = data.get("type")
    if kind in ("user", "assistant"):
        return cast("str", kind)
    if not isinstance(kind, str):
        message = as_mapping(data.get("message"))
        role = message.get("role") if message else None
        return role if isinstance(role, str) and role in _ROLES else UNTYPED
    match kind:
        case "system":
            below = data.get("subtype")
        case "attachment":
            below = (as_mapping(data.get("attachment")) or {}).get("type")
        case "progress":
            below = (as_mapping(data.get("data")) or {}).get("type")
        case "queue-operation":
            below = data.get("operation")
        case _:
            return kind
    return f"{kind}/{below}" if isinstance(below, str) else kind


def kinds() -> tuple[str, ...]:
    """Every kind clew knows, sorted."""
    return tuple(sorted(_known()))


def is_known_type(kind: str) -> bool:
    """Whether `kind`, as `kind_of` gives it, or a bare type with subtypes, is known."""
    return kind in _known() or kind in _divided()


def is_known_field(kind: str, field: str) -> bool:
    """Whether entries of `kind` are known to have `field`; a dot leads into a part, as in `message.id`."""
    return field in fields_of(kind)


def is_known_block(block: str) -> bool:
    """Whether content blocks of this type are known."""
    return block in _blocks()


def fields_of(kind: str) -> Mapping[str, str]:
    """The fields of a kind, each with its marks by version; those only reported have no mark at all."""
    return _known().get(kind, {})


def marks(kind: str) -> str:
    """In which of `VERSIONS` a kind was seen: `x`, or `.` where it was not."""
    return fields_of(kind).get("type", _NOT_SEEN).replace("o", "x")


def versions_of(kind: str, field: str = "type") -> tuple[str, ...]:
    """The client versions in which a kind, or a field of it, was seen."""
    row = fields_of(kind).get(field, _NOT_SEEN)
    return tuple(version for version, mark in zip(VERSIONS, row, strict=True) if mark != ".")


def unknown_in(data: Mapping[str, object]) -> list[tuple[What, str]]:
    """List what clew does not know in one entry: its type, its subtype, its fields, its blocks.

    Inside an unknown kind nothing further is listed. Free-form parts, such as a tool's input and result, are
    never looked into.
    """
    kind = kind_of(data)
    if kind not in _known():
        if kind in _divided():
            # The type is known, and the subtype it is divided by is absent.
            return []
        head, _, below = kind.partition("/")
        return [("subtype", kind)] if below and head in _divided() else [("type", kind)]
    found: list[tuple[What, str]] = []
    _strange(found, kind, data, _level(kind, ""))
    part = PART.get(kind) or PART.get(kind.partition("/")[0])
    if part is not None and (inner := as_mapping(data.get(part))) is not None:
        known = _level(kind, part)
        if known:
            _strange(found, f"{kind}.{part}", inner, known)
    if kind in _ROLES:
        _unknown_in_message(found, kind, data)
    return found


def _unknown_in_message(found: list[tuple[What, str]], kind: str, data: Mapping[str, object]) -> None:
    message = as_mapping(data.get("message"))
    content = data.get("content")
    if message is not None:
        content = message.get("content", content)
        _strange(found, f"{kind}.message", message, _level(kind, "message"))
        usage = as_mapping(message.get("usage"))
        if usage is not None:
            _strange(found, "usage", usage, _usage())
    if isinstance(content, list):
        for item in cast("list[object]", content):
            block = as_mapping(item)
            if block is None:
                continue
            name = block.get("type")
            keys = _blocks().get(name) if isinstance(name, str) else None
            if keys is None:
                found.append(("block", f"{kind}:{name if isinstance(name, str) else UNTYPED}"))
            else:
                _strange(found, f"block {name}", block, keys)


def _strange(
    found: list[tuple[What, str]], where: str, data: Mapping[str, object], known: frozenset[str]
) -> None:
    # One comparison of key sets settles nearly every line; only a line with something new is looked over.
    if not (data.keys() <= known):
        found.extend(("field", f"{where}.{field}") for field in data if field not in known)


@cache
def _known() -> Mapping[str, Mapping[str, str]]:
    """Kind to field to marks, the forms of `user` and `assistant` merged, the reported ones added."""
    forms: dict[str, list[Mapping[str, str]]] = {}
    for form, groups in FIELDS.items():
        head = form.partition("/")[0]
        rows = {name: row for row, names in groups.items() for name in names.split()}
        forms.setdefault(head if head in _ROLES else form, []).append(rows)
    known = {kind: _merged(tables) for kind, tables in forms.items()}
    for kind, groups in parts.INNER.items():
        _add(known[kind], groups, prefix=_part(kind) + ".")
    for kind, names in parts.REPORTED_FIELDS.items():
        rows = known.setdefault(kind, {})
        for name in names.replace("@", parts.ENVELOPE).split():
            rows.setdefault(name, _NOT_SEEN)
    for kind, names in parts.REPORTED_INNER.items():
        for name in names.split():
            known[kind][f"{_part(kind)}.{name}"] = _NOT_SEEN
    return known


def _add(rows: dict[str, str], groups: Mapping[str, str], *, prefix: str) -> None:
    for row, names in groups.items():
        rows.update((prefix + name, row) for name in names.split())


def _part(kind: str) -> str:
    return PART.get(kind) or PART[kind.partition("/")[0]]


def _merged(forms: list[Mapping[str, str]]) -> dict[str, str]:
    """The marks of fields over several forms: always only where every form of that version always has it."""
    if len(forms) == 1:
        return dict(forms[0])
    merged: dict[str, str] = {}
    for field in sorted({field for form in forms for field in form}):
        marks = ""
        for at in range(len(VERSIONS)):
            there = {form.get(field, _NOT_SEEN)[at] for form in forms if form["type"][at] != "."}
            marks += there.pop() if len(there) == 1 else "o" if there else "."
        merged[field] = marks
    return merged


@cache
def _divided() -> frozenset[str]:
    """Types that are divided into subtypes."""
    return frozenset(kind.partition("/")[0] for kind in _known() if "/" in kind)


@cache
def _level(kind: str, part: str) -> frozenset[str]:
    """The known names at the top of a kind, or directly inside one of its parts."""
    head = f"{part}." if part else ""
    return frozenset(
        name.removeprefix(head)
        for name in fields_of(kind)
        if name.startswith(head) and "." not in name.removeprefix(head)
    )


@cache
def _usage() -> frozenset[str]:
    return frozenset(name for names in parts.USAGE.values() for name in names.split())


@cache
def _blocks() -> Mapping[str, frozenset[str]]:
    """The keys of each block type, whoever wrote it."""
    keys: dict[str, set[str]] = {}
    for block, groups in parts.BLOCKS.items():
        rows = keys.setdefault(block.partition(":")[2], set())
        for names in groups.values():
            rows.update(names.split())
    for block, names in parts.REPORTED_BLOCKS.items():
        keys.setdefault(block, set()).update(names.split())
    return {block: frozenset(names) for block, names in keys.items()}
