"""The options every command shares, and the one way a command gives its result back."""

from __future__ import annotations

from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, NamedTuple, ParamSpec, cast

import click

from clew.faces.cli.terminal import ColorChoice, Screen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

P = ParamSpec("P")

DAMAGED = 3
"""The exit code of a command that read and printed all there was, some of it damaged."""


class Shared(NamedTuple):
    """What the shared options said."""

    screen: Screen
    roots: tuple[Path, ...]
    is_json: bool
    is_jsonl: bool
    no_index: bool
    jobs: int | None
    is_quiet: bool
    is_verbose: bool

    @property
    def is_data(self) -> bool:
        """Whether a program reads the output: JSON in one of its two forms."""
        return self.is_json or self.is_jsonl

    def emit(self, document: object, *, rows: Iterable[object] | None = None) -> None:
        """Write a result as one JSON document, or its rows as one JSON document a line."""
        from clew.format.decode import encode

        if not self.is_jsonl:
            self.screen.json(_pretty(document))
            return
        if rows is None:
            listed = isinstance(document, list)
            rows = cast("list[object]", document) if listed else [document]
        for row in rows:
            self.screen.json(encode(row).decode("utf-8", "replace"))


def _pretty(document: object) -> str:
    import json

    return json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False, default=str)


def shared(function: Callable[Concatenate[Shared, P], int | None]) -> Callable[P, int | None]:
    """Give a command the shared options, as one value, in front of its own."""

    @click.option("--json", "is_json", is_flag=True, help="Print one JSON document.")
    @click.option("--jsonl", "is_jsonl", is_flag=True, help="Print one JSON document a line.")
    @click.option(
        "--root",
        "roots",
        multiple=True,
        metavar="DIR",
        type=click.Path(path_type=Path),
        help="A config folder, the one that holds projects/; may be given several times.",
    )
    @click.option("--no-index", is_flag=True, help="Read the files themselves.")
    @click.option("--jobs", type=click.IntRange(1, 256), metavar="N", help="Processes to use at most.")
    @click.option(
        "--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True
    )
    @click.option("-q", "--quiet", "is_quiet", is_flag=True, help="Print nothing but data and errors.")
    @click.option("-v", "--verbose", "is_verbose", is_flag=True, help="Say what was skipped and why.")
    @wraps(function)
    def with_shared(*args: P.args, **kwargs: P.kwargs) -> int | None:
        given = cast("dict[str, Any]", kwargs)
        quiet = bool(given.pop("is_quiet"))
        color = cast("ColorChoice", given.pop("color"))
        common = Shared(
            screen=Screen(color=color, quiet=quiet),
            roots=tuple(given.pop("roots")),
            is_json=given.pop("is_json"),
            is_jsonl=given.pop("is_jsonl"),
            no_index=given.pop("no_index"),
            jobs=given.pop("jobs"),
            is_quiet=quiet,
            is_verbose=given.pop("is_verbose"),
        )
        return function(common, *args, **kwargs)

    return with_shared


def hiding(*names: str) -> Callable[[click.Command], click.Command]:
    """Leave shared options that mean nothing to a command out of its help; they are still taken."""

    def hide(command: click.Command) -> click.Command:
        for param in command.params:
            if isinstance(param, click.Option) and param.name in names:
                param.hidden = True
        return command

    return hide
