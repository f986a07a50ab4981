"""`clew export --to bundle`: what it tells."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from clew.faces.cli import words
from clew.faces.cli.options import DAMAGED
from clew.faces.cli.terminal import span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew.actions.bundling import Bundled
    from clew.actions.chosen_sessions import ChosenSessions
    from clew.faces.cli.options import Shared
    from clew.store.files import SessionFile


def export_bundles(
    common: Shared,
    chosen: ChosenSessions,
    files: Sequence[SessionFile],
    output: str | None,
    *,
    is_one: bool,
    redact: bool,
    patterns: Sequence[str],
    force: bool,
) -> int:
    """Write bundles of sessions, and tell of it."""
    from clew.actions.exporting_bundles import Bundles, BundleWish, export_bundle
    from clew.actions.exporting_bundles import export_bundles as export_many
    from clew.actions.own_patterns import compiled
    from clew.errors import UsageError
    from clew.faces.cli.notices import measuring
    from clew.store.state import state_folder

    wish = BundleWish(int(time.time() * 1000), state_folder(), redact, compiled(patterns), force)
    if output == "-":
        if not is_one:
            raise UsageError("several sessions are several bundles", hint="-o DIR")
        if common.screen.is_terminal:
            raise UsageError("a bundle is not for a terminal", hint="-o FILE, or into a pipe")
        _tell_notes(common, export_bundle(chosen.store, files[0], wish, out=sys.stdout.buffer))
        return 0
    if is_one:
        with measuring(common.screen, "Looking for secrets in") as start:
            made = export_bundle(chosen.store, files[0], wish, out=output, progress=start)
        if common.is_data:
            common.emit(made.as_dict())
        else:
            _show(common, made)
        return 0
    with common.screen.progress(len(files), "Bundling", "sessions") as progress:
        where = output or "."
        done = export_many(chosen.store, files, wish, where, advance=progress.advance) if files else Bundles()
    if common.is_data:
        common.emit(
            {
                "format": "bundle",
                "written": [one.as_dict() for one in done.made],
                "failed": [
                    {"session": file.id, "path": file.path, "reason": why} for file, why in done.failed
                ],
                "looked_in": [*chosen.store.roots.looked_in],
            }
        )
    else:
        for made in done.made:
            _show(common, made)
    for file, why in done.failed:
        common.screen.note(span("failed: ", "red"), f"{file.id}: {why}")
    return DAMAGED if done.failed else 0


def _show(common: Shared, made: Bundled) -> None:
    common.screen.print(made.out or "")
    secrets = "without secrets" if made.about.is_redacted else "byte for byte, with its secrets"
    files = words.count(len(made.about.manifest.files), "file")
    common.screen.note(span(f"{words.size(made.bytes_written)} · {files} · {secrets}", "dim"))
    _tell_notes(common, made)


def _tell_notes(common: Shared, made: Bundled) -> None:
    for note in made.notes:
        common.screen.note(note)
