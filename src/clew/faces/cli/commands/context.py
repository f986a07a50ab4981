"""`clew context S`: what the model will be sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import click

from clew.faces.cli import cells, table, words
from clew.faces.cli.options import DAMAGED, Shared, shared
from clew.faces.cli.terminal import Part, Span, one_line, span

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clew.actions.contexts import Resumed
    from clew.faces.cli.terminal import Screen

_COLUMNS: Final = (
    table.Column("", align="right", style=("dim",)),
    table.Column("ROLE"),
    table.Column("BLOCKS", needs=80, most=28, style=("dim",)),
    table.Column("FIRST WORDS", flexible=True),
    table.Column("≈TOKENS", align="right", words="≈{} tokens"),
    table.Column("LINES", needs=100, most=18, style=("dim",)),
)
_MOST: Final = 60
"""Messages that are listed on a terminal: the first and the last of them."""
_LEAST: Final = 10
_SHORT: Final = {"tool_use": "call", "tool_result": "result"}


_EXAMPLES: Final = """\b
Examples:
  clew context @1
  clew context @1 --client 2.1.88
  clew context @1 --json | jq .messages
"""


@click.command("context", epilog=_EXAMPLES)
@click.argument("session", metavar="S")
@click.option("--at", metavar="UUID", help="What would be sent if the session ended in that line.")
@click.option("--client", metavar="VERSION", help="The client that resumes; the newest measured without.")
@click.option("--model", metavar="M", help="The model that is asked; thinking of others may be left out.")
@click.option("--all", "is_all", is_flag=True, help="List every message, not the first and last.")
@shared
def command(
    common: Shared, session: str, at: str | None, client: str | None, model: str | None, is_all: bool
) -> int:
    """Show exactly what the model will be sent when a session is resumed.

    Before the next prompt, and without the client's own reminders. Then what is left out and why, and
    what the Messages API itself would refuse.
    """
    from clew.actions.contexts import context_document, read_context
    from clew.actions.reading import open_reading

    opened = open_reading(common.roots, session, with_agents=False)
    resumed = read_context(opened, at=at, client=client, model=model)
    if common.is_data:
        from clew.faces.cli.documents import write

        write(common, context_document(resumed), "messages")
    else:
        _show(common.screen, resumed, is_all=is_all)
    if resumed.asked_client is not None:
        _tell_client(common.screen, resumed)
    return 0 if resumed.is_sound else DAMAGED


def _tell_client(screen: Screen, resumed: Resumed) -> None:
    used = resumed.context.client
    screen.note(
        span("note: ", "yellow"),
        f"{resumed.asked_client} was not measured; these are the rules of {used}, the nearest that was",
    )


def _show(screen: Screen, resumed: Resumed, *, is_all: bool) -> None:
    found = resumed.context
    screen.print(span("client ", "dim"), found.client, span(" · model ", "dim"), one_line(found.model))
    if found.leaf is not None:
        screen.print(span("ends in ", "dim"), span(one_line(found.leaf), "cyan"))
    if found.refused is not None:
        screen.print(span("✗ the client would refuse to resume: ", "red"), one_line(found.refused))
    else:
        screen.print()
        _messages(screen, resumed, is_all=is_all)
        screen.print(
            span(words.count(len(found.messages), "message"), "bold"),
            f" from {found.reachable_lines:,} of {words.count(found.conversation_lines, 'line')} · ",
            span(f"≈{words.tokens(found.tokens_estimate)} tokens", "yellow"),
        )
        if screen.is_terminal:
            screen.print(span("≈ is an estimate: by words, digits and signs", "dim"))
    _left_out(screen, resumed)
    _api(screen, resumed)


def _messages(screen: Screen, resumed: Resumed, *, is_all: bool) -> None:
    from clew.session.context import estimate_tokens

    found = resumed.context
    count = len(found.messages)
    is_cut = screen.is_terminal and not is_all and count > _MOST + 1
    places = [*range(_MOST // 2), *range(count - _MOST // 2, count)] if is_cut else list(range(count))
    number = resumed.opened.session.table.number
    rows: list[list[Part]] = []
    for at in places:
        message = found.messages[at]
        content = cast("Sequence[Mapping[str, Any]]", message["content"])
        rows.append(
            [
                str(at + 1),
                str(message["role"]),
                _kinds(content),
                _first_words(content),
                words.tokens(estimate_tokens(content)),
                _spans([number[row] for row in found.rows[at]]) or "made up",
            ]
        )
    lines = table.lines(_COLUMNS, rows, width=screen.width, ascii_only=screen.is_ascii)
    if is_cut:
        lines.insert(len(lines) - _MOST // 2, [Span(f"   {count - _MOST:,} messages more: --all", ("dim",))])
    screen.lines(lines)
    if rows:
        screen.print()


def _kinds(content: Sequence[Mapping[str, Any]]) -> str:
    counts: dict[str, int] = {}
    for block in content:
        kind = one_line(str(block.get("type") or "?"))[:40]
        counts[_SHORT.get(kind, kind)] = counts.get(_SHORT.get(kind, kind), 0) + 1
    return " ".join(kind if many == 1 else f"{many}×{kind}" for kind, many in counts.items())


def _first_words(content: Sequence[Mapping[str, Any]]) -> str:
    for block in content:
        match block.get("type"):
            case "text":
                said = str(block.get("text") or "")
            case "tool_use":
                said = f"{block.get('name')} {_argument(block)}"
            case "tool_result":
                said = _result(block.get("content"))
            case _:
                continue
        if said.strip():
            return one_line(said[:400])
    return ""


def _argument(block: Mapping[str, Any]) -> str:
    from clew.faces.cli.tool_lines import argument
    from clew.format.entry import as_mapping

    return argument(str(block.get("name")), as_mapping(block.get("input")), folder=None)


def _result(content: object) -> str:
    from clew.format.blocks import blocks, text_of

    return text_of(blocks(content))


def _spans(numbers: Sequence[int]) -> str:
    """Write line numbers as spans: `3-5 8`."""
    spans: list[list[int]] = []
    for number in sorted(set(numbers)):
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return " ".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)


def _left_out(screen: Screen, resumed: Resumed) -> None:
    left = resumed.context.left_out
    if not left:
        return
    groups: dict[str, list[int]] = {}
    for one in left:
        groups.setdefault(one.reason, []).append(one.line)
    screen.print()
    screen.print(span(f"{words.count(len(left), 'line')} left out", "bold"))
    for reason, numbers in sorted(groups.items(), key=lambda group: -len(group[1])):
        head = f"  {len(numbers):>5,}  {one_line(reason)}"
        where = f"{'line' if len(numbers) == 1 else 'lines'} {_spans(numbers)}"
        if screen.width is not None:
            head = cells.cut_end(head, screen.width)
            left = screen.width - cells.width(head) - 2
            where = cells.cut_end(where, left) if left >= _LEAST else ""
        screen.print(head, span(f"  {where}" if where else "", "dim"))


def _api(screen: Screen, resumed: Resumed) -> None:
    from clew.actions.contexts import DOUBTFUL

    found = resumed.context.api_problems
    if not found:
        return
    screen.print()
    screen.print(
        span("the Messages API would refuse", "bold") if resumed.errors else span("in doubt", "bold")
    )
    for one in found:
        style = "yellow" if one.code in DOUBTFUL else "red"
        head = f"  {one.code}"
        said = f"  message {one.message + 1:,}: {one_line(one.detail)}"
        if screen.width is not None:
            said = cells.cut_end(said, max(_LEAST, screen.width - cells.width(head)))
        screen.print(span(head, style), said)
