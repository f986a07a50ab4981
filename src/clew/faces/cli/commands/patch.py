"""`clew patch S`: what a session changed, as a patch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from clew.faces.cli.notices import stepping
from clew.faces.cli.options import DAMAGED, Shared, shared
from clew.faces.cli.terminal import one_line, span

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clew.actions.file_changes import Patch
    from clew.faces.cli.terminal import Screen, Style

_COLORS: Final[Mapping[str, Style]] = {
    "diff ": "bold",
    "+++": "bold",
    "---": "bold",
    "@@": "cyan",
    "+": "green",
    "-": "red",
}
_EXAMPLES: Final = """\b
Examples:
  clew patch @1
  clew patch @1 --turn 3 | git apply
  clew patch @1 | git apply --reverse
"""


@click.command("patch", epilog=_EXAMPLES)
@click.argument("session", metavar="S")
@click.option("--turn", type=click.IntRange(0), metavar="N", help="Only what this turn changed.")
@click.option(
    "--full-paths", is_flag=True, help="Paths from the root on; takes in files outside the session's folder."
)
@shared
def command(common: Shared, session: str, turn: int | None, full_paths: bool) -> int:
    """Print what a session, or one turn of it, changed: a unified diff that git apply takes.

    Paths are from the session's folder on. What was changed in between by something else is in the patch of
    the whole session too; clew files names it.
    """
    from clew.actions.file_changes import follow, make_patch

    followed = follow(common.roots, session)
    with stepping(common.screen, "Following", "calls") as start:
        found = make_patch(followed, turn=turn, full_paths=full_paths, start=start)
    if common.is_data:
        common.emit({"session": followed.opened.file.id, "turn": turn} | found.as_dict())
    elif common.screen.is_terminal:
        _show(common.screen, found)
    else:
        for file in found.files:
            common.screen.document((file.patch,))
    if not found.files and not common.is_data:
        what = "This session" if turn is None else f"Turn {turn}"
        common.screen.note(f"{what} changed nothing that can be told.")
    for one in found.left_out:
        common.screen.note(span("not in the patch: ", "yellow"), f"{one_line(one.path)}: {one.why}")
    return DAMAGED if followed.opened.is_damaged else 0


def _show(screen: Screen, found: Patch) -> None:
    for file in found.files:
        for line in file.patch.decode("utf-8", "replace").removesuffix("\n").split("\n"):
            styles: list[Style] = [style for start, style in _COLORS.items() if line.startswith(start)]
            screen.print(span(line, *styles[:1]))
