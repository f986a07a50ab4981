"""What every command that edits has in common: its options, and how it says what it did."""

from __future__ import annotations

from collections import Counter
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, Final, NamedTuple, ParamSpec, cast

import click

from clew.faces.cli import cells, words
from clew.faces.cli.terminal import one_line, span

if TYPE_CHECKING:
    from collections.abc import Callable

    from clew.actions.editing import Outcome, Wish
    from clew.faces.cli.options import Shared
    from clew.faces.cli.terminal import Screen, Style
    from clew.store.commit import Done

P = ParamSpec("P")

_LISTED: Final = 12
"""Lines that a dry run lists; JSON has all of them."""

_STYLES: Final[dict[str, Style]] = {"drop": "red", "patch": "yellow", "add": "green"}
_MARKS: Final = {"drop": "-", "patch": "~", "add": "+"}
_DONE: Final = {"drop": "gone", "patch": "changed", "add": "new"}


class EditOptions(NamedTuple):
    """What the options of an edit said."""

    is_dry: bool
    in_place: bool
    force: bool
    keep_thinking: bool


def edit_options(
    *, in_place: bool = True, thinking: bool = True
) -> Callable[
    [Callable[Concatenate[Shared, EditOptions, P], int | None]],
    Callable[Concatenate[Shared, P], int | None],
]:
    """Give a command the options of an edit, as one value, behind the shared ones.

    Not every edit can work in place, and not every one changes what is sent.
    """

    def decorate(
        function: Callable[Concatenate[Shared, EditOptions, P], int | None],
    ) -> Callable[Concatenate[Shared, P], int | None]:
        @wraps(function)
        def with_options(common: Shared, *args: P.args, **kwargs: P.kwargs) -> int | None:
            given = cast("dict[str, Any]", kwargs)
            options = EditOptions(
                is_dry=bool(given.pop("is_dry")),
                in_place=bool(given.pop("in_place", False)),
                force=bool(given.pop("force")),
                keep_thinking=bool(given.pop("keep_thinking", False)),
            )
            return function(common, options, *args, **kwargs)

        found: Callable[..., int | None] = with_options
        force = "Do it even if something would be lost that was not asked for."
        found = click.option("--force", is_flag=True, help=force)(found)
        if thinking:
            keep = "Keep thinking that comes after a change; newer models refuse it."
            found = click.option("--keep-thinking", is_flag=True, help=keep)(found)
        if in_place:
            here = "Change the session itself; the old file is kept as a backup for clew undo."
            found = click.option("--in-place", is_flag=True, help=here)(found)
        dry = "Only say what would change."
        return click.option("--dry-run", "is_dry", is_flag=True, help=dry)(found)

    return decorate


def make_wish(command: str, options: EditOptions) -> Wish:
    """Return how an edit is to be done: here the id of the new session and the time come in."""
    import time
    import uuid

    from clew.actions.editing import Wish
    from clew.store.state import state_folder

    return Wish(
        command,
        str(uuid.uuid4()),
        int(time.time() * 1000),
        state_folder(),
        is_dry=options.is_dry,
        in_place=options.in_place,
        force=options.force,
        keep_thinking=options.keep_thinking,
    )


def tell(common: Shared, outcome: Outcome) -> int:
    """Say what an edit did, or would do."""
    if common.is_data:
        common.emit(outcome.as_dict())
        return 0
    screen = common.screen
    if outcome.done is None:
        _preview(screen, outcome)
    else:
        _result(screen, outcome)
    for note in (*outcome.notes, *outcome.plan.notes):
        screen.note(note)
    for loss in outcome.refused:
        screen.note(
            span("! ", "yellow"), loss, " (without --force this is refused)" if outcome.done is None else ""
        )
    return 0


def _preview(screen: Screen, outcome: Outcome) -> None:
    steps = list(outcome.steps())
    screen.print(span("Nothing was written. ", "bold"), *_where(outcome))
    _figures(screen, outcome)
    if not steps:
        screen.print(span("  Every line stays as it is.", "dim"))
        return
    many = Counter((step.action, step.reason) for step in steps)
    width = max(len(f"{count:,}") for count in many.values())
    for (action, reason), count in many.most_common():
        told = f"  {_MARKS[action]} {count:>{width},} {_DONE[action]}"
        screen.print(span(told, _STYLES[action]), _cut(screen, f"  {one_line(reason)}", told))
    main = outcome.footprint.file.path
    numbered = [step for step in steps if step.line is not None and step.path == main]
    if len(many) == 1 and len(numbered) > _LISTED:
        return  # one reason for all says it all
    screen.print()
    for step in numbered[:_LISTED]:
        told = f"  {_MARKS[step.action]} line {step.line:,}"
        screen.print(span(told, _STYLES[step.action]), _cut(screen, f"  {one_line(step.reason)}", told))
    if len(numbered) > _LISTED:
        left = words.count(len(numbered) - _LISTED, "more line")
        screen.print(span(f"  … {left}: --json lists all", "dim"))


def _cut(screen: Screen, text: str, before: str) -> str:
    """Return as much of a text as there is room for behind another."""
    return text if screen.width is None else cells.cut_end(text, max(20, screen.width - cells.width(before)))


def _where(outcome: Outcome) -> list[str]:
    if outcome.destination is None:
        return [f"This would change {outcome.footprint.file.id} itself:"]
    return [f"This would make a new session; {outcome.footprint.file.id[:8]} stays as it is:"]


def _figures(screen: Screen, outcome: Outcome) -> None:
    counts = outcome.plan.counts()
    before, after = outcome.tokens
    saved = ""
    if before and before != after:
        saved = f"  {'-' if after < before else '+'}{words.percent(abs(after - before), before)}"
    screen.print(
        "  context   ",
        f"{words.tokens(before)} tokens"
        if before == after
        else f"{words.tokens(before)} → {words.tokens(after)} tokens",
        span(saved, "green" if after < before else "yellow") if saved else "",
    )
    screen.print(
        "  lines     ",
        f"{counts.kept:,} kept · {counts.patched:,} changed · {counts.dropped:,} gone · {counts.added:,} new",
    )
    screen.print("  files     ", f"{words.size(counts.bytes_before)} → {words.size(counts.bytes_after)}")
    if outcome.plan.thinking_dropped:
        many = words.count(outcome.plan.thinking_dropped, "block")
        screen.print("  thinking  ", f"{many} dropped, as what was sent before changed (--keep-thinking)")


def _result(screen: Screen, outcome: Outcome) -> None:
    done = outcome.done
    verb = "Changed" if outcome.destination is None else "Made"
    screen.print(span(f"{verb} ", "bold"), span(outcome.id, "cyan"))
    _figures(screen, outcome)
    screen.print("  resume    ", span(f"claude --resume {outcome.id}", "bold"))
    screen.print("  take back ", span("clew undo", "bold"))
    if done is None:
        return
    for backup in done.backups:
        screen.print(span(f"  backup    {backup}", "dim"))
    tell_doubts(screen, done)


def tell_doubts(screen: Screen, done: Done) -> None:
    """Say what is not sure of an edit that is done."""
    if not done.is_lasting:
        screen.note("Done, but the disk has not confirmed it: durability not confirmed.")
    if done.carried:
        screen.note(f"{words.size(done.carried)} that were written meanwhile were carried over.")
    if not done.is_quiet:
        screen.note("Somebody is still writing into the old file; look at the backup.")
