"""`clew export --to parquet`: what it tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.faces.cli import words
from clew.faces.cli.options import DAMAGED
from clew.faces.cli.terminal import span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew.actions.chosen_sessions import ChosenSessions
    from clew.actions.export_stories import Cleaning
    from clew.actions.exporting_tables import ExportedTables
    from clew.faces.cli.options import Shared
    from clew.store.files import SessionFile


def export_tables(
    common: Shared,
    chosen: ChosenSessions,
    files: Sequence[SessionFile],
    output: str,
    *,
    cleaning: Cleaning | None,
    force: bool,
) -> int:
    """Write the tables of sessions, and tell of it; of none there are no tables."""
    from clew.actions.exporting_tables import ExportedTables
    from clew.faces.cli.notices import tell_left, tell_skipped

    done = ExportedTables((), (), (), None if cleaning is None else {})
    if files:
        done = _written(common, chosen, files, output, cleaning=cleaning, force=force)
    if common.is_data:
        common.emit(
            {
                "format": "parquet",
                "tables": [
                    {"name": one.name, "path": one.path, "rows": one.rows, "bytes": one.size}
                    for one in done.tables
                ],
                "redacted": done.redacted,
                "left": None if done.redacted is None else done.left,
                "looked_in": [*chosen.store.roots.looked_in],
            }
        )
    else:
        for one in done.tables:
            common.screen.print(one.path, span(f"  {words.count(one.rows, 'row')}", "dim"))
        if done.redacted is not None and done.tables:
            common.screen.note(span(f"{words.count(sum(done.redacted.values()), 'secret')} taken out", "dim"))
    tell_left(common.screen, done.left)
    for note in done.notes:
        common.screen.note(span("note: ", "yellow"), note)
    tell_skipped(common.screen, done.skipped, verbose=common.is_verbose)
    return DAMAGED if done.skipped else 0


def _written(
    common: Shared,
    chosen: ChosenSessions,
    files: Sequence[SessionFile],
    output: str,
    *,
    cleaning: Cleaning | None,
    force: bool,
) -> ExportedTables:
    from clew.actions.exporting_redacted_tables import export_redacted_tables
    from clew.actions.exporting_tables import export_tables as export_plain
    from clew.faces.cli.building import building

    if cleaning is None:
        ids = None if chosen.is_everything else [file.id for file in files]
        with building(common.screen) as tell:
            return export_plain(
                chosen.store,
                output,
                sessions=ids,
                force=force,
                no_index=common.no_index,
                jobs=common.jobs,
                tell=tell,
            )
    if chosen.is_everything:
        files = chosen.listing.sessions  # those without a conversation too, as without redacting
    with common.screen.progress(len(files), "Redacting", "sessions") as progress:
        return export_redacted_tables(
            chosen.store,
            output,
            files,
            cleaning,
            is_everything=chosen.is_everything,
            force=force,
            no_index=common.no_index,
            jobs=common.jobs,
            advance=progress.advance,
        )
