"""Export sessions as bundles, a file each. What a bundle is, and how one is made, is `bundling`."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from clew.actions.bundling import ENDING, bundle
from clew.errors import ClewError, RefusedError
from clew.export.file_names import file_name
from clew.session.titles import title
from clew.store.outputs import beside, is_folder, is_there, make_output_folder, take_over
from clew.store.reader import open_session
from clew.view.parts import Head, Work

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from typing import IO

    from clew.actions.bundling import Bundled
    from clew.store.files import SessionFile, Store


@dataclass(frozen=True, slots=True)
class BundleWish:
    """How bundles are made."""

    now_ms: int
    state: Path
    redact: bool = True
    patterns: Sequence[re.Pattern[str]] = ()
    force: bool = False
    """Whether a file that is there may go, and what redacting would be refused for is taken."""


@dataclass(slots=True)
class Bundles:
    """What became of it."""

    made: list[Bundled] = field(default_factory=list["Bundled"])
    failed: list[tuple[SessionFile, str]] = field(default_factory=list["tuple[SessionFile, str]"])


def export_bundle(
    store: Store,
    file: SessionFile,
    wish: BundleWish,
    *,
    out: str | IO[bytes] | None = None,
    progress: Callable[[int], Callable[[int], None]] | None = None,
) -> Bundled:
    """Write the bundle of one session: into a file, a folder, the current folder without either, a stream."""
    if out is not None and not isinstance(out, str):
        return _bundle(store, file, out, wish, progress)
    where = "." if out is None else out
    if is_folder(where):
        where = os.path.join(where, _name(file))  # noqa: PTH118
    if not is_there(where):
        return _bundle(store, file, where, wish, progress)
    if not wish.force:
        raise RefusedError(f"{os.path.abspath(where)} is there already")  # noqa: PTH100
    temporary = beside(where)
    made = _bundle(store, file, temporary, wish, progress)
    return made._replace(out=take_over(temporary, where))


def export_bundles(
    store: Store,
    files: Sequence[SessionFile],
    wish: BundleWish,
    folder: str,
    *,
    advance: Callable[[], None] | None = None,
) -> Bundles:
    """Write the bundles of many sessions into a folder; one that cannot be made costs only itself."""
    where = make_output_folder(folder)
    result = Bundles()
    for file in files:
        try:
            result.made.append(export_bundle(store, file, wish, out=where))
        except ClewError as error:
            result.failed.append((file, error.message))
        if advance is not None:
            advance()
    return result


def _bundle(
    store: Store,
    file: SessionFile,
    out: str | IO[bytes],
    wish: BundleWish,
    progress: Callable[[int], Callable[[int], None]] | None,
) -> Bundled:
    return bundle(
        store,
        file.path,
        out,
        now_ms=wish.now_ms,
        state=wish.state,
        redact=wish.redact,
        patterns=wish.patterns,
        force=wish.force,
        progress=progress,
    )


def _name(file: SessionFile) -> str:
    found = title(open_session(file.path))
    return file_name(Head(file.id, found.text if found else "", 0, Work()), ENDING)
