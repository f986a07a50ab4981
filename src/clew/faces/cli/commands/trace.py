"""`clew trace send|backfill|status|show`: sessions as traces, in the backend a person has."""

from __future__ import annotations

import os
import re
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, cast

import click

from clew.errors import UsageError
from clew.faces.cli import table, words
from clew.faces.cli.options import DAMAGED, Shared, shared
from clew.faces.cli.terminal import one_line, span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew.actions.tracing import Request
    from clew.actions.tracing_backfill import Backfill
    from clew.actions.tracing_plans import Totals
    from clew.actions.tracing_runs import Sending
    from clew.actions.tracing_status import Statuses
    from clew.faces.cli.terminal import Part, Screen
    from clew.trace.endpoints import Backend

_EXAMPLES: Final = """\b
Examples:
  clew trace send @1 --endpoint http://localhost:4318/v1/traces
  clew trace backfill --since 30d --dry-run
  clew trace backfill --rate 200/s
  clew trace status
  clew trace show @1 --turn 3
"""
_REASONS: Final = {
    "agent_unfinished": "a sub-agent is at work",
    "agent_without_call": "sub-agents that no call started, such as warm-ups",
    "already_sent": "was sent before",
    "interrupted": "was interrupted, and nothing followed",
    "news_awaited": "a sub-agent's news are awaited",
    "no_answer": "has no answer",
    "no_session": "sub-agents whose session is gone",
    "no_turn": "before any prompt",
    "not_asked_for": "not in the time that was asked for",
    "running": "is not over",
    "unanswered_call": "a call has no result",
}
_COLUMNS: Final = (
    table.Column("ENDPOINT", flexible=True, cut="middle", style=("cyan",)),
    table.Column("TRACES", align="right", words="{} traces"),
    table.Column("SPANS", align="right", words="{} spans", needs=80),
    table.Column("PENDING", align="right", words="{} pending"),
    table.Column("UNKNOWN", align="right", words="{} unknown", hide_if_empty=True),
    table.Column("REFUSED", align="right", words="{} refused", hide_if_empty=True),
    table.Column("LAST SENT", align="right", words="sent {}"),
)


@click.command("trace", epilog=_EXAMPLES)
@click.argument(
    "what", type=click.Choice(["send", "backfill", "status", "show"]), metavar="send|backfill|status|show"
)
@click.argument("session", metavar="[S]", required=False)
@click.option(
    "--endpoint", "urls", multiple=True, metavar="URL", help="Where to: the full address for traces."
)
@click.option("--header", "headers", multiple=True, metavar="K=V", help="A header for that endpoint.")
@click.option("--service", metavar="NAME", help="The name of the service; claude-code without it.")
@click.option("--backend", type=click.Choice(["otlp", "langfuse", "phoenix"]), help="What takes the traces.")
@click.option("--since", metavar="WHEN", help="With backfill: turns from then on: 2026-02-03, or 30d.")
@click.option("--until", metavar="WHEN", help="With backfill: turns before then.")
@click.option("--rate", metavar="N/s", help="No more than so many spans a second.")
@click.option("--dry-run", is_flag=True, help="Only say what would be sent, and what of the usage would not.")
@click.option("--no-content", is_flag=True, help="Send that something was said and done, not what.")
@click.option("--no-redact", is_flag=True, help="Send passwords, keys and tokens as they are.")
@click.option("--resend-unknown", is_flag=True, help="Send again what may have arrived, twice perhaps.")
@click.option("--turn", type=int, metavar="N", help="With show: one turn.")
@shared
def command(
    common: Shared,
    what: str,
    session: str | None,
    urls: tuple[str, ...],
    headers: tuple[str, ...],
    service: str | None,
    backend: str | None,
    since: str | None,
    until: str | None,
    rate: str | None,
    dry_run: bool,
    no_content: bool,
    no_redact: bool,
    resend_unknown: bool,
    turn: int | None,
) -> int:
    """Send sessions as traces to Langfuse, Phoenix or any OpenTelemetry collector.

    A turn is a trace: the prompt at its root, below it every answer of the model, the tools it called and the
    sub-agents it started, with tokens and cost. Every turn is sent once, when it is complete. send does one
    session, backfill all of them, and what was sent before is not sent again.

    Endpoints are named by --endpoint, by OTEL_EXPORTER_OTLP_*, LANGFUSE_* and PHOENIX_* variables, or in
    clew/trace.toml in the configuration folder. Secrets are taken out before anything leaves the machine.
    """
    from clew.actions.tracing import Request

    request = Request(
        common.roots,
        urls,
        headers,
        service,
        cast("Backend | None", backend),
        not no_content,
        not no_redact,
        resend_unknown,
        _rate(rate),
        os.environ,
    )
    if what == "show":
        if session is None:
            raise UsageError("which session?", hint="clew trace show @1")
        return _show(common, session, turn)
    if what == "status":
        return _status(common, request)
    if what == "send" and session is None:
        raise UsageError("which session?", hint="clew trace send @1, or clew trace backfill for all of them")
    if what == "backfill" and session is not None:
        raise UsageError("backfill takes all sessions", hint=f"clew trace send {session}")
    return _send(common, request, session, since, until, dry_run=dry_run)


def _rate(text: str | None) -> float | None:
    if text is None:
        return None
    found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,3})?)(?:/(s|m|h))?", text.strip())
    if found is None or not float(found[1]):
        raise UsageError(f"{text!r} is no rate", hint="--rate 200/s")
    return float(found[1]) / {"s": 1, "m": 60, "h": 3600}[found[2] or "s"]


# --- send and backfill --------------------------------------------------------------------------------------


def _send(
    common: Shared,
    request: Request,
    session: str | None,
    since: str | None,
    until: str | None,
    *,
    dry_run: bool,
) -> int:
    from clew.actions.tracing_backfill import Backfill
    from clew.faces.cli.notices import tell_skipped
    from clew.store.state import state_folder

    state, now_ms = state_folder(request.environ), int(time.time() * 1000)
    backfill = Backfill(request, state=state, now_ms=now_ms, since=since, until=until, session=session)
    for note in backfill.notes:
        common.screen.note(span("note: ", "yellow"), note)
    if session is None:
        tell_skipped(common.screen, backfill.skipped, verbose=common.is_verbose)
    if dry_run:
        return _plan(common, backfill)
    many = len(backfill.sources) * backfill.endpoints
    with common.screen.progress(many or None, "Sending", "sessions") as progress:
        sent = backfill.send(progress.advance)
    for note in sent.notes:
        common.screen.note(span("note: ", "yellow"), note)
    if common.is_data:
        common.emit(sent.as_dict())
    else:
        _show_sent(common.screen, sent)
    _tell_failures(common.screen, sent)
    return 1 if sent.failed else 0


def _show_sent(screen: Screen, sent: Sending) -> None:
    turns, spans = words.count(sent.turns_sent, "turn"), words.count(sent.spans_sent, "span")
    nothing = "Nothing was sent" if sent.pending or sent.failed else "Nothing new to send"
    first = span(f"{turns} sent" if sent.turns_sent else nothing, "bold")
    facts = [f"{spans}"] if sent.turns_sent else []
    facts += [f"{words.count(sent.already_sent, 'turn')} sent before"] if sent.already_sent else []
    facts += [f"{words.count(sent.pending, 'turn')} not yet"] if sent.pending else []
    screen.print(first, " · ".join(["", *facts]) if facts else "")
    for report in sent.reports:
        if report.rejected:
            many = words.count(report.rejected, "span")
            screen.note(span("! ", "yellow"), f"{report.label} took {many} and will not keep them")


def _tell_failures(screen: Screen, sent: Sending) -> None:
    for one in sent.failed:
        waiting = f"; {words.count(one.turns, 'turn')} wait for it" if one.turns else ""
        screen.note(span("✗ ", "red"), f"{one.where}: {one.reason}{waiting}")
    if sent.unknown:
        many = words.count(sent.unknown, "turn")
        screen.note(
            span("! ", "yellow"),
            f"of {many} nobody knows whether they arrived: look, or send them again with --resend-unknown",
        )


def _plan(common: Shared, backfill: Backfill) -> int:
    plan = backfill.plan()
    with common.screen.progress(len(backfill.sources), "Reading", "sessions") as progress:
        totals = plan.totals(progress.advance)
    if common.is_data:
        from clew.actions.tracing_plans import plan_document
        from clew.faces.cli import documents

        documents.write(common, plan_document(plan, totals), "traces")
    else:
        _show_plan(common.screen, totals)
    for one in totals.skipped:
        common.screen.note(span("! ", "yellow"), f"{one.path}: {one.reason}")
    return DAMAGED if totals.skipped else 0


def _show_plan(screen: Screen, totals: Totals) -> None:
    sent = totals.sent
    screen.print(
        span(f"{words.count(totals.turns, 'turn')} would be sent", "bold"),
        f" · {words.count(totals.spans, 'span')} · {words.tokens(sent.spent.tokens.total)} tokens"
        f" · {words.money(sent.spent.cost_usd)} · of {words.count(totals.sessions, 'session')}",
    )
    rows: list[list[Part]] = []
    for reason, share in sorted(totals.rest.items()):
        turns = totals.pending.get(reason, 0) or (totals.already if reason == "already_sent" else 0)
        if turns or share.messages:
            told = _REASONS.get(reason, reason)
            counts = [words.number(turns) if turns else "", words.number(share.messages)]
            rows.append(
                [told, *counts, words.tokens(share.spent.tokens.total), words.money(share.spent.cost_usd)]
            )
    if rows:
        columns = (
            table.Column("NOT SENT", flexible=True),
            table.Column("TURNS", align="right", words="{} turns"),
            table.Column("MESSAGES", align="right", words="{} messages"),
            table.Column("TOKENS", align="right", words="{} tokens"),
            table.Column("COST", align="right"),
        )
        screen.print()
        screen.lines(table.lines(columns, rows, width=screen.width, ascii_only=screen.is_ascii))


# --- status and show ----------------------------------------------------------------------------------------


def _status(common: Shared, request: Request) -> int:
    from clew.actions.tracing_status import read_status
    from clew.store.state import state_folder

    found = read_status(request, state=state_folder(request.environ))
    for note in found.notes:
        common.screen.note(span("note: ", "yellow"), note)
    if common.is_data:
        common.emit([one.as_dict() for one in found.listed])
    elif not found.listed:
        common.screen.note(
            "No endpoint is configured, and nothing was ever sent. clew trace --help says how."
        )
    else:
        _show_status(common.screen, found)
    return 0


def _show_status(screen: Screen, found: Statuses) -> None:
    now = datetime.now(UTC)

    def moment(ms: int | None) -> datetime | None:
        return None if ms is None else datetime.fromtimestamp(ms / 1000, UTC)

    rows: list[Sequence[Part]] = []
    for one in found.listed:
        state = one.state
        rows.append(
            [
                state.label,
                words.number(state.traces),
                words.number(state.spans),
                span(words.number(state.waiting_turns), "yellow") if state.waiting_turns else "0",
                span(words.number(state.unknown_spans), "yellow") if state.unknown_spans else "",
                span(words.number(state.refused_spans), "red") if state.refused_spans else "",
                words.age(moment(state.answered_ms), now=now),
            ]
        )
    screen.lines(table.lines(_COLUMNS, rows, width=screen.width, ascii_only=screen.is_ascii))
    for one in found.listed:
        state = one.state
        if state.error:
            age = words.age(moment(state.error_ms), now=now)
            ago = "just now" if age == "now" else f"{age} ago"
            screen.print(span("✗ ", "red"), span(state.label, "cyan"), f" {ago}: {one_line(state.error)}")
        if not one.is_configured:
            screen.print(span(f"  {state.label} is not configured now", "dim"))
    if any(one.state.waiting_turns for one in found.listed):
        screen.print("  ", span("clew trace backfill", "bold"), " sends what is pending")
    if any(one.state.unknown_spans for one in found.listed):
        screen.print(
            "  ",
            span("clew trace backfill --resend-unknown", "bold"),
            " sends again what may not have arrived",
        )


def _show(common: Shared, session: str, turn: int | None) -> int:
    from clew.actions.tracing_status import Shown

    shown = Shown(common.roots, session, turn=turn)
    if common.is_data:
        from clew.faces.cli import documents

        documents.write(common, shown.as_dict(), "traces")
        return 0
    from clew.faces.cli.commands.trace_waterfall import Waterfall

    waterfall = Waterfall(common.screen)
    is_any = False
    for one in shown.turns():
        is_any = True
        waterfall.show(one)
    if not is_any:
        common.screen.note("Nothing was said in this session.")
    return 0
