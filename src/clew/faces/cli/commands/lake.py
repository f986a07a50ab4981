"""`clew lake build|query|vacuum`: the tables of many machines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, cast

import click

from clew.errors import UsageError
from clew.faces.cli import words
from clew.faces.cli.options import DAMAGED, Shared, hiding, shared
from clew.faces.cli.terminal import span

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from clew.actions.lake_building import Built
    from clew.actions.sql import Row
    from clew.faces.cli.terminal import Progress, Screen

_MOST: Final = 3
_UNITS: Final = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_STAGES: Final = {"listing": ("Listing", "files"), "sessions": ("Building", "MB")}
_EXAMPLES: Final = """\b
Examples:
  clew lake build ~/.claude ~/lake
  clew lake build s3://transcripts s3://lake --engine sc://spark:15002
  clew lake query usage-by-team-day --lake ~/lake
  clew lake query "SELECT team, count(*) FROM sessions GROUP BY team" --lake s3://lake --json
  clew lake vacuum --lake ~/lake
"""


@hiding("roots", "no_index")
@click.command("lake", epilog=_EXAMPLES)
@click.argument("what", type=click.Choice(["build", "query", "vacuum"]), metavar="build|query|vacuum")
@click.argument("given", nargs=-1, metavar="[SRC DST | NAME|SQL]")
@click.option("--lake", metavar="DST", help="The lake to ask or to tidy up.")
@click.option(
    "--engine",
    metavar="ENGINE",
    help="build: local or sc://host:port. query: duckdb or sc://host:port.",
)
@click.option(
    "--storage-option",
    "options",
    multiple=True,
    metavar="KEY=VALUE",
    help="For the object store, such as aws_endpoint_url=…; else it asks the environment.",
)
@click.option("--no-redact", is_flag=True, help="build: leave passwords, keys and tokens in.")
@click.option("--prune", is_flag=True, help="build: drop the rows of sessions that are gone from SRC.")
@click.option(
    "--commit-every", metavar="SIZE", help="build: checkpoint after so much, such as 500MB; 2 GB a processor."
)
@click.option(
    "--older-than", type=click.FloatRange(0), default=168.0, show_default=True, metavar="HOURS",
    help="vacuum: delete files that nobody needs only when they are older.",
)  # fmt: skip
@click.option("--dry-run", is_flag=True, help="vacuum: only say how many files would go.")
@shared
def command(
    common: Shared,
    what: str,
    given: tuple[str, ...],
    lake: str | None,
    engine: str | None,
    options: tuple[str, ...],
    no_redact: bool,
    prune: bool,
    commit_every: str | None,
    older_than: float,
    dry_run: bool,
) -> int:
    """Keep the tables of many developers as a lake of Parquet files, and ask it.

    build brings the lake in DST up to date with the sessions in SRC: a config folder, or a folder of many,
    as DEVELOPER/projects or TEAM/DEVELOPER/projects. Both are folders, or addresses such as s3://, gs:// and
    az://. Only sessions that changed are read; secrets are taken out before anything is written. It can be
    ended at any time, and goes on where it was; readers see a build when it is finished, and never half.

    query asks by name, or in SQL of DuckDB or Spark; without one it lists the names. vacuum puts small files
    together and deletes those that nobody needs any more. Needs clew[lake]; a cluster, clew[spark].

    JSON: build {"lake", "engine", "checkpoint", "redacted", "resumed", "sessions", "built", "unchanged",
    "removed", "bytes_read", "bytes_written", "secrets", "damaged": [], "unread": [], "skipped": [],
    "task_seconds", "seconds"}; query a list of objects; vacuum {"lake", "files_merged", "files_deleted",
    "dry_run"}.
    """
    match what:
        case "build":
            return _build(common, given, lake, engine, options, not no_redact, prune, commit_every)
        case "query":
            return _query(common, given, lake, engine, options)
        case _:
            return _vacuum(common, given, lake, options, older_than, dry_run)


def _size(text: str | None) -> int | None:
    if text is None:
        return None
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]B)?", text.strip(), re.IGNORECASE)
    if match is None or not float(match[1]):
        raise UsageError(f"{text!r} is no size", hint="--commit-every 500MB")
    return int(float(match[1]) * _UNITS[(match[2] or "").upper()])


# --- build --------------------------------------------------------------------------------------------------


class _Teller:
    """Draws how far a build is, a line for each stage."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._stage = ""
        self._done = 0
        self._line: AbstractContextManager[Progress] | None = None
        self._progress: Progress | None = None

    def __call__(self, stage: str, done: int, total: int) -> None:
        if stage != self._stage or self._progress is None:
            self.end()
            self._stage, self._done = stage, 0
            label, what = _STAGES.get(stage, ("Settling usage and", "sessions"))
            self._line = self._screen.progress(round(total / 1e6) or None, label, what)
            self._progress = self._line.__enter__()
        self._done += done
        now = self._done if stage == "listing" else round(self._done / 1e6)
        self._progress.advance(now - self._progress.done)

    def end(self) -> None:
        """Take the line away."""
        line, self._line, self._progress = self._line, None, None
        if line is not None:
            line.__exit__(None, None, None)


def _build(
    common: Shared,
    given: tuple[str, ...],
    lake: str | None,
    engine: str | None,
    options: tuple[str, ...],
    redact: bool,
    prune: bool,
    commit_every: str | None,
) -> int:
    from clew.actions.lake_building import Request, build_lake
    from clew.faces.cli.notices import tell_skipped
    from clew.store.state import state_folder

    if lake is not None:
        given = (*given, lake)
    if len(given) != 2:
        raise UsageError("from where, and to where?", hint="clew lake build SRC DST")
    request = Request(*given, engine or "local", options, redact, prune, _size(commit_every), common.jobs)
    tell = _Teller(common.screen)
    try:
        done = build_lake(request, state=state_folder(), tell=tell, is_alone=True)
    finally:
        tell.end()
    if common.is_data:
        common.emit(done.as_dict())
    else:
        _show_built(common.screen, done, is_verbose=common.is_verbose)
    tell_skipped(common.screen, done.report.skipped, verbose=common.is_verbose)
    return DAMAGED if done.is_flawed else 0


def _show_built(screen: Screen, done: Built, *, is_verbose: bool) -> None:
    report = done.report
    again = " (went on with a build that was cut short)" if report.resumed else ""
    screen.print(
        span(f"{words.count(report.mapped, 'session')} built", "bold"),
        f" of {report.sessions:,}, {words.size(report.bytes)} read, "
        f"{words.size(report.written_bytes)} written in {words.duration(done.seconds * 1000)}{again}.",
    )
    if report.removed:
        screen.print(f"  {words.count(report.removed, 'session')} gone from the source, and from the lake")
    if report.secrets:
        screen.print(f"  {words.count(report.secrets, 'secret')} taken out")
    if not done.is_redacted:
        screen.note(span("note: ", "yellow"), "secrets were left in, as --no-redact wants it")
    screen.print("  ", span(done.lake, "cyan"))
    flaws = [f"{path}: {why}" for path, why in report.unread]
    flaws += [f"{name}: {words.count(many, 'damaged line')}" for name, many in report.damaged]
    for line in flaws if is_verbose else flaws[:_MOST]:
        screen.note(span("! ", "yellow"), line)
    if len(flaws) > _MOST and not is_verbose:
        screen.note(span("! ", "yellow"), f"{len(flaws) - _MOST:,} more; -v lists them")


# --- query --------------------------------------------------------------------------------------------------


def _query(
    common: Shared, given: tuple[str, ...], lake: str | None, engine: str | None, options: tuple[str, ...]
) -> int:
    from clew.actions.lake_asking import ask_lake, named_queries

    if not given:
        if common.is_data:
            common.emit([{"name": name, "doc": doc} for name, doc in named_queries()])
        else:
            for name, doc in named_queries():
                common.screen.print("  ", span(f"{name:<20}", "cyan"), doc)
        return 0
    query, *others = given
    if others:
        raise UsageError("the query is one argument: put it in quotes")
    if lake is None:
        raise UsageError("which lake?", hint="clew lake query cost-by-model --lake DST")
    found = ask_lake(query, lake, engine=engine or "duckdb", options=options, jobs=common.jobs)
    if common.is_data:
        common.emit([dict(zip(found.columns, row, strict=True)) for row in found.rows])
        return 0
    from clew.faces.cli.sql_table import show

    if found.rows or not common.screen.is_terminal:
        show(common.screen, found.columns, cast("list[Row]", [*found.rows]))
    if common.screen.is_terminal:
        common.screen.print(span(words.count(len(found.rows), "row"), "dim"))
    return 0


# --- vacuum -------------------------------------------------------------------------------------------------


def _vacuum(
    common: Shared,
    given: tuple[str, ...],
    lake: str | None,
    options: tuple[str, ...],
    older_than: float,
    dry_run: bool,
) -> int:
    from clew.actions.lake_building import tidy_lake

    places = [*given, *([lake] if lake else [])]
    if len(places) != 1:
        raise UsageError("which lake?", hint="clew lake vacuum --lake DST")
    done = tidy_lake(places[0], options=options, hours=older_than, dry_run=dry_run, jobs=common.jobs)
    if common.is_data:
        common.emit(done.as_dict())
        return 0
    many = words.count(len(done.deleted), "file")
    if dry_run:
        common.screen.print(span(f"{many} would be deleted", "bold"), ".")
    else:
        common.screen.print(
            span(f"{many} deleted", "bold"), f", {words.count(done.merged, 'small file')} less in the tables."
        )
    common.screen.print("  ", span(done.lake, "cyan"))
    return 0
