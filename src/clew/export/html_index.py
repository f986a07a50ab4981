"""The list of a folder of pages: one row a session, the newest first, with what they come to in all.

The rows are there without a script; with one they can be narrowed by typing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from clew.export import html_plain as plain
from clew.export.html import opening
from clew.export.html_gate import text
from clew.export.html_index_assets import SCRIPT, STYLE
from clew.view import whole, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clew.export.listed import Listed


def write_index(sessions: Sequence[Listed], /, *, version: str) -> Iterator[bytes]:
    """Give the page piece by piece."""
    script = SCRIPT.encode()
    yield opening("Sessions", script, STYLE.encode(), version)
    top = (
        "<main>\n<h1>Sessions</h1>\n"
        f'<p class="totals">{text(totals(sessions))}</p>\n'
        '<search class="filter"><input id="filter" type="search" aria-label="Narrow the list" '
        'placeholder="Narrow by title, project, branch or model" autocomplete="off" '
        'spellcheck="false" hidden><output id="found" aria-live="polite"></output></search>\n'
        '<ul class="rows">\n'
    )
    yield top.encode()
    for listed in sessions:
        yield _row(listed).encode()
    if not sessions:
        yield b"</ul>\n<p>There are no sessions in this folder.</p>\n"
    else:
        yield b"</ul>\n"
    yield f'<p class="made">Made by clew {text(version)}</p>\n</main>\n'.encode()
    yield b"<script>%b</script>\n</body>\n</html>\n" % script


def totals(sessions: Sequence[Listed]) -> str:
    """Return what all sessions come to, and what is not in it."""
    heads = [listed.head for listed in sessions]
    failed = sum(map(whole.failed, heads))
    costs = list(map(whole.cost, heads))
    known = [cost for cost in costs if cost is not None]
    shares = sum(head.agents_work.cost_usd or 0.0 for head in heads)
    theirs = f", {words.money(shares)} of it by sub-agents" if shares else ""
    outside = sum(map(whole.outside_calls, heads))
    agents = sum(listed.head.agents for listed in sessions)
    damaged = sum(1 for listed in sessions if listed.head.damaged)
    gone = sum(1 for listed in sessions if listed.is_gone)
    dates = sorted({listed.head.prices for listed in sessions if listed.head.prices})
    priced = f" (prices of {', '.join(dates)})" if dates else ""
    said = [
        plain.counted(len(sessions), "session")
        + (f" + {plain.counted(agents, 'sub-agent')}" if agents else ""),
        plain.counted(sum(listed.head.turns for listed in sessions), "turn"),
        plain.counted(sum(map(whole.calls, heads)), "call") + (f", {failed:,} failed" if failed else ""),
        f"{outside:,} more by sub-agents" if outside else "",
        f"{words.money(sum(known))}{theirs}{priced}" if known else "",
        f"{plain.counted(len(costs) - len(known), 'session')} without a price"
        if len(known) < len(costs)
        else "",
        f"{damaged:,} damaged" if damaged else "",
        f"{gone:,} no longer in the store" if gone else "",
    ]
    return " · ".join(one for one in said if one)


def _row(listed: Listed) -> str:
    head, wrong = listed.head, whole.failed(listed.head)
    chips = [
        f"! {plain.counted(head.damaged, 'damaged piece')}" if head.damaged else "",
        "no longer in the store" if listed.is_gone else "",
    ]
    marks = "".join(f'<span class="chip">{text(chip)}</span>' for chip in chips if chip)
    below = " · ".join(
        one for one in (head.project, head.branch, plain.when(head.started), *head.models) if one
    )
    failed = f'<span class="err">✗ {wrong:,} failed</span>' if wrong else "<span></span>"
    calls = plain.counted(whole.calls(head), "call")
    cost = text(words.money(whole.cost(head)))
    # A name is a path in this folder: what a browser would take for an address or a step up is spelled out.
    address = "./" + quote(listed.name.encode("utf-8", "surrogateescape"), safe="")
    return (
        f'<li><a href="{text(address)}"><span><span class="title"><bdi>'
        f"{text(head.title or 'Untitled session')}</bdi>{marks}</span>"
        f'<span class="below">{text(below)}</span></span>'
        f'<span class="figures"><span>{plain.counted(head.turns, "turn")}</span>'
        f"<span>{calls}</span>{failed}<span>{cost}</span></span></a></li>\n"
    )
