"""Write the answer to a query as a Parquet file. Needs pyarrow, which comes with the extra `parquet`."""

from __future__ import annotations

import importlib
import os
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from clew.actions.sql import distinct
from clew.errors import ClewError, UsageError
from clew.store.source import reason
from clew.tables.schema import TABLES

if TYPE_CHECKING:
    from collections.abc import Generator

    from clew.actions.sql import Answer, Value

Kind = Literal["null", "integer", "real", "text", "blob"]

_BATCH: Final = 50_000
_KINDS: Final[dict[type, Kind]] = {
    type(None): "null", int: "integer", float: "real", str: "text", bytes: "blob",
}  # fmt: skip


class MissingExtraError(ClewError):
    """A part of clew that is installed on request is not there."""

    code = "missing-extra"

    def __init__(self, extra: str, library: str) -> None:
        super().__init__(f"this needs {library}, which is not installed", hint=f"pip install 'clew[{extra}]'")
        self.extra = extra


@dataclass(slots=True)
class _Column:
    """One column, in pieces; each piece has a kind of its own, and in the end all have the widest."""

    name: str
    pieces: list[Any] = field(default_factory=list[Any])
    kinds: set[Kind] = field(default_factory=set[Kind])


def write_parquet(answer: Answer, path: Path) -> int:
    """Write all rows into a file, which is there whole or not at all; return how many they are.

    A column of whole numbers is `int64`, one of numbers `double`, one of bytes `binary`, every other
    `string`. One without any value is what the tables call it, else `string`.
    """
    arrow, parquet = library()
    names = distinct(answer.columns)
    columns = [_Column(name) for name in names]
    rows, count = answer.rows(), 0
    while batch := list(islice(rows, _BATCH)):
        count += len(batch)
        for at, column in enumerate(columns):
            _take(arrow, column, [row[at] for row in batch])
    table = arrow.table([_joined(arrow, column) for column in columns], names=names)
    with _replacing(path) as beside:
        parquet.write_table(table, str(beside), compression="zstd")
    return count


def library() -> tuple[Any, Any]:
    """Return pyarrow, or say how to get it. Worth asking before a long query."""
    try:
        return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise MissingExtraError("parquet", "pyarrow") from error


def _take(arrow: Any, column: _Column, values: list[Value]) -> None:
    kinds: set[Kind] = {_KINDS[type(value)] for value in values}
    column.kinds |= kinds
    kind = _widest(kinds)
    column.pieces.append(arrow.array([_as(kind, value) for value in values], _type(arrow, kind)))


def _widest(kinds: set[Kind]) -> Kind:
    """Return the kind that can hold all of some kinds."""
    some: set[Kind] = {kind for kind in kinds if kind != "null"}
    if len(some) < 2:
        return some.pop() if some else "null"
    return "real" if some == {"integer", "real"} else "text"


def _as(kind: Kind, value: Value) -> Value:
    if kind == "text" and value is not None and not isinstance(value, str):
        return value.hex() if isinstance(value, bytes) else str(value)
    return float(value) if kind == "real" and isinstance(value, int) else value


def _type(arrow: Any, kind: Kind) -> Any:
    match kind:
        case "null":
            return arrow.null()
        case "integer":
            return arrow.int64()
        case "real":
            return arrow.float64()
        case "blob":
            return arrow.binary()
        case "text":
            return arrow.string()


def _joined(arrow: Any, column: _Column) -> Any:
    kind = _widest(column.kinds)
    if kind == "null":
        kind = _documented(column.name)
    wanted = _type(arrow, kind)
    return arrow.chunked_array([_cast(arrow, piece, wanted) for piece in column.pieces], wanted)


def _cast(arrow: Any, piece: Any, wanted: Any) -> Any:
    if piece.type == wanted:
        return piece
    if arrow.types.is_string(wanted):  # in Python's words, as within a piece
        return arrow.array([_as("text", value) for value in piece.to_pylist()], wanted)
    return piece.cast(wanted, safe=False)


def _documented(name: str) -> Kind:
    """Return what the tables say a column of this name is."""
    types = {column.type for table in TABLES.values() for column in table.columns if column.name == name}
    if types in ({"integer"}, {"boolean"}):
        return "integer"
    return "real" if types == {"real"} else "text"


@contextmanager
def _replacing(path: Path) -> Generator[Path]:
    """Give a file beside `path` that takes its place at the end, if all went well."""
    path = path.resolve()  # a link stays a link
    if path.exists() and not path.is_file():
        raise UsageError(f"{path} is not a regular file")
    try:
        descriptor, name = tempfile.mkstemp(prefix=".clew-", dir=path.parent)
        os.close(descriptor)
        beside = Path(name)
        try:
            yield beside
            umask = os.umask(0)
            os.umask(umask)
            beside.chmod(0o666 & ~umask)
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {reason(error)}") from error
