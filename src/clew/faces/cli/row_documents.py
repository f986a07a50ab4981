"""JSON of many rows, a row a line: for commands that must not wait for a JSON library to load.

Without line breaks inside, the standard library's own encoder is eight times as fast.
"""

from __future__ import annotations

from json import JSONEncoder
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from clew.faces.cli.options import Shared

_encode = JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False, default=str).encode


def texts(rows: Iterable[Mapping[str, object]]) -> list[str]:
    """Return each row as JSON."""
    return [_encode(row) for row in rows]


def write_list(common: Shared, rows: Sequence[str]) -> None:
    """Write rows that are JSON already: as a list, or one document a line."""
    _write(common, "[", rows, "]")


def write_document(common: Shared, document: Mapping[str, object], rows: str) -> None:
    """Write a document that has a list of rows as its member `rows`; with `--jsonl` the rows alone."""
    members = list(document)
    at = members.index(rows)
    before = "".join(f"{_encode(name)}: {_encode(document[name])}, " for name in members[:at])
    after = "".join(f",\n {_encode(name)}: {_encode(document[name])}" for name in members[at + 1 :])
    listed = texts(document[rows])  # pyright: ignore[reportArgumentType]  # a list of mappings, by what it is
    _write(common, f"{{{before}{_encode(rows)}: [", listed, f"]{after}}}")


def _write(common: Shared, head: str, rows: Sequence[str], tail: str) -> None:
    write = common.screen.json
    if common.is_jsonl:
        for row in rows:
            write(row)
    elif not rows:
        write(head + tail)
    else:
        last = len(rows) - 1
        for at, row in enumerate(rows):
            write(f"{' ' if at else head}{row}{',' if at < last else tail}")
