"""`clew sql QUERY`: the tables, asked in SQL."""

from __future__ import annotations

import re
import sys
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import click

from clew.faces.cli import words
from clew.faces.cli.options import DAMAGED, Shared, shared
from clew.faces.cli.terminal import Screen, span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clew.actions.sql import Answer, Row, Value

_QUOTED: Final = re.compile(r'[",\r\n]|^\s|\s$')
_LEAST_DOC: Final = 20
_LONGEST_QUERY: Final = 10_000_000
_EXAMPLES: Final = """\b
Examples:
  clew sql "SELECT title, turns, cost_usd FROM sessions ORDER BY cost_usd DESC LIMIT 10"
  clew sql "SELECT name, count(*) AS calls FROM calls GROUP BY name" --csv
  clew sql --schema usage
  clew sql - < query.sql
"""


@click.command("sql", epilog=_EXAMPLES)
@click.argument("query", nargs=-1, metavar="[QUERY|-]")
@click.option(
    "-f",
    "--file",
    "file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Read the query from a file.",
)
@click.option("--schema", is_flag=True, help="Show the tables, their columns and what they mean.")
@click.option("--csv", "is_csv", is_flag=True, help="Print comma-separated values.")
@click.option(
    "--parquet",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write a Parquet file; needs clew[parquet].",
)
@click.option("--limit", type=click.IntRange(0), metavar="N", help="Rows at most; all without.")
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="End the query after so long; the time to update the index does not count.",
)
@shared
def command(
    common: Shared,
    query: tuple[str, ...],
    file: Path | None,
    schema: bool,
    is_csv: bool,
    parquet: Path | None,
    limit: int | None,
    timeout: float | None,
) -> int:
    """Ask the tables a question in SQL.

    QUERY is one statement in the dialect of SQLite, and only reads; - takes it from standard input. The
    tables are sessions, entries, messages, turns, calls, usage, files and problems; --schema lists their
    columns. The index is brought up to date first.

    --json prints a list of objects, --jsonl an object a line. CSV leaves null empty and writes an empty text
    as ""; in it, as in the table, control characters are drawn as symbols, while JSON and Parquet keep them.
    """
    from clew.actions.sql import Wish, ask
    from clew.actions.stores import open_store
    from clew.faces.cli.building import building
    from clew.faces.cli.notices import tell_skipped

    _one_shape(common, is_csv=is_csv, parquet=parquet)
    if schema:
        _schema(common, query)
        return 0
    text = _query(query, file)
    if parquet is not None:
        from clew.actions.sql_parquet import library

        library()
    store = open_store(common.roots)
    wish = Wish(limit, timeout, common.no_index, common.jobs)
    with building(common.screen) as tell, ask(store, text, wish, tell=tell) as answer:
        tell.end()
        for note in answer.notes:
            common.screen.note(span("note: ", "yellow"), note)
        _write(common, answer, is_csv=is_csv, parquet=parquet)
        if answer.was_cut:
            common.screen.note(span("note: ", "yellow"), f"there are more rows than --limit {limit}")
        tell_skipped(common.screen, answer.skipped, verbose=common.is_verbose)
        return DAMAGED if answer.skipped else 0


def _one_shape(common: Shared, *, is_csv: bool, parquet: Path | None) -> None:
    from clew.errors import UsageError

    if common.is_data + is_csv + (parquet is not None) > 1:
        raise UsageError("--json, --jsonl, --csv and --parquet are different shapes: give one of them")


def _query(words_: tuple[str, ...], file: Path | None) -> str:
    """Return the query: as it was given, or from a file or standard input."""
    from clew.errors import UsageError

    if file is not None and words_:
        raise UsageError("the query was given twice: as an argument and by --file")
    if file is not None and str(file) != "-":
        try:
            with file.open("rb") as stream:
                data = stream.read(_LONGEST_QUERY + 1)
        except OSError as error:
            raise UsageError(f"{file} cannot be read: {error.strerror or error}") from error
    elif file is not None or words_ == ("-",):
        data = sys.stdin.buffer.read(_LONGEST_QUERY + 1)
    elif len(words_) > 1:
        raise UsageError("the query is one argument: put it in quotes")
    else:
        return words_[0] if words_ else ""
    if len(data) > _LONGEST_QUERY:
        raise UsageError("the query is longer than 10 MB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError("the query is not UTF-8") from error


# --- the answer ---------------------------------------------------------------------------------------------


def _write(common: Shared, answer: Answer, *, is_csv: bool, parquet: Path | None) -> None:
    screen = common.screen
    if parquet is not None:
        from clew.actions.sql_parquet import write_parquet

        count = write_parquet(answer, parquet)
        screen.note(f"Wrote {words.count(count, 'row')} into ", str(parquet), ".")
    elif is_csv:
        _csv(screen, answer)
    elif common.is_data:
        _json(common, answer)
    else:
        _table(screen, answer)


def _table(screen: Screen, answer: Answer) -> None:
    from clew.faces.cli.sql_table import show

    rows = list(answer.rows())
    if rows or not screen.is_terminal:
        show(screen, answer.columns, rows)
    if screen.is_terminal:
        screen.print(span(words.count(len(rows), "row"), "dim"))


def _csv(screen: Screen, answer: Answer) -> None:
    from clew.faces.cli.sql_table import text

    for row in chain((cast("Row", answer.columns),), answer.rows()):
        screen.print(",".join(_field(value, text(value)) for value in row))


def _field(value: Value, shown: str) -> str:
    if isinstance(value, str) and (not value or _QUOTED.search(shown)):
        return '"' + shown.replace('"', '""') + '"'
    return shown


def _json(common: Shared, answer: Answer) -> None:
    from clew.actions.sql import distinct
    from clew.faces.cli.documents import whole

    names = distinct(answer.columns)  # an object has each name once
    found = (whole(dict(zip(names, map(_plain, row), strict=True))) for row in answer.rows())
    for line in found if common.is_jsonl else _listed(found):
        common.screen.json(line)


def _plain(value: Value) -> object:
    return value.hex() if isinstance(value, bytes) else value


def _listed(objects: Iterator[str]) -> Iterator[str]:
    """Give a JSON list line by line."""
    last = next(objects, None)
    if last is None:
        yield "[]"
        return
    start = "["
    for following in objects:
        yield f"{start}{last},"
        start, last = "", following
    yield f"{start}{last}]"


# --- the schema ---------------------------------------------------------------------------------------------


def _schema(common: Shared, names: tuple[str, ...]) -> None:
    from clew.actions.sql import schema_document

    document = schema_document(names)
    tables = cast("list[dict[str, object]]", document["tables"])
    if common.is_data:
        common.emit(document, rows=tables)
        return
    for number, one in enumerate(tables):
        if number:
            common.screen.print()
        _show_table(common.screen, one)


def _show_table(screen: Screen, one: dict[str, object]) -> None:
    from clew.faces.cli.prose import wrapped

    columns = cast("list[dict[str, str]]", one["columns"])
    name, kind = (max(len(column[key]) for column in columns) for key in ("name", "type"))
    head = 2 + name + 2 + kind + 2
    room = None if screen.width is None else max(_LEAST_DOC, screen.width - head)
    screen.print(span(str(one["name"]), "bold"))
    for line in wrapped([str(one["doc"])], screen.width and screen.width - 2):
        screen.print("  ", span(line, "dim"))
    for column in columns:
        first, *others = wrapped([column["doc"]], room)
        screen.print("  ", span(f"{column['name']:<{name}}", "cyan"), f"  {column['type']:<{kind}}  ", first)
        for line in others:
            screen.print(" " * head, line)
