"""`clew search`: words, a literal or a pattern in all sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

import click

from clew.errors import UsageError
from clew.faces.cli import cells, words
from clew.faces.cli.building import building
from clew.faces.cli.flows import flow, measure
from clew.faces.cli.naming import projects
from clew.faces.cli.notices import tell_skipped
from clew.faces.cli.options import Shared, shared
from clew.faces.cli.terminal import Part, Screen, one_line, span

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from clew.actions.search_places import Near
    from clew.actions.searching import Hit, Request, Result, Role
    from clew.tables.texts import Field

ON_A_TERMINAL: Final = 20

_LABELS: Final = {"prompt": "prompt", "thinking": "thinking", "summary": "summary", "title": "title"}
_WHERE: Final = {"branch": "branch", "before-compaction": "compacted", "spilled": "spilled"}
_LEAST: Final = 16
"""The cells that a snippet gets at least."""

_EXAMPLES: Final = """\b
Examples:
  clew search idempotency
  clew search '"double refund" OR webhook -test' --since 2w
  clew search 'idempot*' --in prompt,text --project shop
  clew search --regex 'E[0-9]{4}' --tool Bash --errors
  clew search --literal '日本' --json | jq '.hits[].path'
"""


@click.command("search", epilog=_EXAMPLES)
@click.argument("query", metavar="Q")
@click.option("--literal", is_flag=True, help="Take Q as it is, letter by letter.")
@click.option("--regex", is_flag=True, help="Take Q for a pattern, as Python has them.")
@click.option("-i", "--ignore-case", is_flag=True, help="With --literal and --regex; words never mind.")
@click.option(
    "--in",
    "within",
    metavar="FIELD,…",
    help="Only in prompt, text, thinking, tool_input, tool_result, summary, title.",
)
@click.option("--role", type=click.Choice(["user", "assistant"]), help="Only what stands under this role.")
@click.option("--tool", metavar="NAME", help="Only calls and results of a tool; mcp__* for some.")
@click.option("--project", metavar="P", help="Only sessions of a project: its path, or a part of it.")
@click.option("--session", metavar="S", help="Only one session, its sub-agents included.")
@click.option("--since", metavar="T", help="Only lines since: 2h, 3d, 1w, 2026-02-03.")
@click.option("--until", metavar="T", help="Only lines to the end of this day, or before this moment.")
@click.option("--model", metavar="M", help="Only answers of a model: its name, or a part of it.")
@click.option("--git-branch", metavar="B", help="Only lines written on this git branch.")
@click.option("--errors", is_flag=True, help="Only what failed.")
@click.option("--rank", is_flag=True, help="The best first, instead of the newest.")
@click.option(
    "--context", type=click.IntRange(0, 100), default=0, metavar="N", help="With N lines around each."
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"At most so many hits; without it {ON_A_TERMINAL} on a terminal, else 1,000.",
)
@click.option("--all", "is_all", is_flag=True, help="All hits.")
@shared
def command(
    common: Shared,
    query: str,
    literal: bool,
    regex: bool,
    ignore_case: bool,
    within: str | None,
    role: str | None,
    tool: str | None,
    project: str | None,
    session: str | None,
    since: str | None,
    until: str | None,
    model: str | None,
    git_branch: str | None,
    errors: bool,
    rank: bool,
    context: int,
    limit: int | None,
    is_all: bool,
) -> int:
    """Search everything that was said, thought, asked of tools and given back by them.

    Q is words, all of which must be in one line of a session: "phrases" in quotes, prefix*, AND, OR, NOT (or
    -word) and parentheses. Case and accents do not count. Chinese, Japanese, Korean and Thai need no spaces.
    The first search builds an index, which takes a while; later ones read what is new.

    Hits come from the whole history: where it is not on the way the client would go on, its line says branch,
    compacted (from before a compaction), sub-agent, or spilled (an output in a file of its own).
    """
    from datetime import UTC, datetime

    from clew.actions.searching import LIMIT, Request

    if literal and regex:
        raise UsageError("--literal and --regex exclude each other")
    now = datetime.now(UTC)
    request = Request(
        query,
        "literal" if literal else "regex" if regex else "words",
        common.roots,
        _fields(within),
        cast("Role | None", role),
        tool,
        project,
        session,
        since,
        until,
        model,
        git_branch,
        errors,
        rank,
        context,
        limit=None
        if is_all
        else limit or (ON_A_TERMINAL if common.screen.is_terminal and not common.is_data else LIMIT),
        ignore_case=ignore_case,
        no_index=common.no_index,
        jobs=common.jobs,
    )
    if common.screen.width is not None and not common.is_data:
        from dataclasses import replace

        request = replace(request, width=max(request.width, common.screen.width))
    answers = _Answers(common, now)
    result = answers.run(request)
    if common.is_data:
        common.emit(result.as_dict(), rows=[hit.as_dict() for hit in result.hits])
    else:
        answers.show(result)
    for note in result.notes:
        common.screen.note(span("note: ", "yellow"), note)
    tell_skipped(common.screen, result.skipped, verbose=common.is_verbose)
    return 0


class _Answers:
    """Runs a search. While a new index is built, what is found first is shown first."""

    def __init__(self, common: Shared, now: datetime) -> None:
        self._screen = common.screen
        self._now = now
        self._shows_early = common.screen.is_terminal and not common.is_data
        self._shown: set[tuple[str, int, str]] = set()

    def run(self, request: Request) -> Result:
        """Search, and show how far it is."""
        from clew.actions.searching import search

        with building(self._screen) as tell, self._screen.progress(None, "Searching", "files") as progress:

            def start(files: int) -> Callable[[int], None]:
                progress.total = files
                return progress.advance

            early = self._early if self._shows_early else None
            now = int(self._now.timestamp() * 1000)
            return search(request, now=now, tell=tell, start=start, early=early)

    def _early(self, result: Result) -> None:
        show_hits(self._screen, result, result.hits, now=self._now)
        self._shown = {_key(hit) for hit in result.hits}
        if result.hits:
            self._screen.note(span("found so far; what tools said is being read…", "dim"))

    def show(self, result: Result) -> None:
        """Show what was not shown yet, and the footer."""
        if not result.hits:
            _nothing(self._screen, result)
            return
        rest = [hit for hit in result.hits if _key(hit) not in self._shown]
        show_hits(self._screen, result, rest, now=self._now)
        show_totals(self._screen, result)


def _key(hit: Hit) -> tuple[str, int, str]:
    return hit.path, hit.offset, hit.field


def _fields(within: str | None) -> frozenset[Field] | None:
    if within is None:
        return None
    from clew.actions.searching import FIELDS

    named = [one.strip().replace("-", "_") for one in within.split(",") if one.strip()]
    for one in named:
        if one not in FIELDS:
            raise UsageError(f"--in has no {one!r}", hint=f"one of: {', '.join(FIELDS)}")
    if not named:
        raise UsageError("--in names no field", hint=f"one of: {', '.join(FIELDS)}")
    return frozenset(cast("list[Field]", named))


# --- what it looks like -------------------------------------------------------------------------------------


def show(screen: Screen, result: Result, *, now: datetime) -> None:
    """Show the hits by session, with a footer where a person looks at it."""
    if not result.hits:
        _nothing(screen, result)
        return
    show_hits(screen, result, result.hits, now=now)
    show_totals(screen, result)


def show_hits(screen: Screen, result: Result, hits: Sequence[Hit], *, now: datetime) -> None:
    """Show some of the hits of a result, by session."""
    ids = cells.short_ids(result.ids)
    names = projects(hit.project for hit in hits if hit.project is not None)
    for group in _groups(hits):
        screen.print(*_heading(screen, group[0], names, ids, now=now))
        screen.lines(_Look(screen, group).lines())


def show_totals(screen: Screen, result: Result) -> None:
    """Show how many hits there are and what was searched, where a person looks at it."""
    if screen.is_terminal:
        ids = cells.short_ids(result.ids)
        screen.lines(flow(_totals(result, ids), width=screen.width))


def _groups(hits: Sequence[Hit]) -> list[list[Hit]]:
    """Put the hits of a session together, in the order of its lines; the sessions stay in theirs."""
    found: dict[str, list[Hit]] = {}
    for hit in hits:
        found.setdefault(hit.owner, []).append(hit)
    for group in found.values():
        group.sort(key=lambda hit: (hit.path != hit.owner, hit.path, hit.offset))
    return list(found.values())


def _heading(
    screen: Screen, hit: Hit, names: dict[str, str], ids: dict[str, str], *, now: datetime
) -> list[Part]:
    from datetime import UTC, datetime

    facts: list[Part] = []
    if hit.project is not None:
        facts.append(_cut(screen, names[hit.project], 24))
    if hit.ended_ms is not None:
        facts.append(words.age(datetime.fromtimestamp(hit.ended_ms / 1000, UTC), now=now))
    facts.append(span(_short(hit, ids), "cyan"))
    rest: list[Part] = []
    for fact in facts:
        rest += [span(" · ", "dim"), fact]
    title = one_line(hit.title or "(no prompt)")
    if screen.width is not None:
        title = _cut(screen, title, max(_LEAST, screen.width - measure(rest)))
    return [span(title, "bold"), *rest]


def _short(hit: Hit, ids: dict[str, str]) -> str:
    return ids.get(hit.session, hit.session[:8])


class _Look:
    """The hits of one session as lines."""

    def __init__(self, screen: Screen, hits: Sequence[Hit]) -> None:
        self._screen = screen
        self._hits = hits
        self._places = [_place(hit) for hit in hits]
        self._labels = [_label(hit) for hit in hits]
        self._sizes = [max(map(cells.width, column), default=0) for column in (self._places, self._labels)]
        if screen.width is not None:
            # What is left of a narrow terminal is for the text.
            room = max(2 * _LEAST, screen.width) - 6 - _LEAST
            place = min(self._sizes[0], room * 3 // 5)
            self._sizes = [place, min(self._sizes[1], room - place, 24)]

    def lines(self) -> list[list[Part]]:
        """Return the lines."""
        found: list[list[Part]] = []
        for hit, place, label in zip(self._hits, self._places, self._labels, strict=True):
            found += [self._near(one) for one in hit.before]
            start = self._start(place, label, is_error=hit.is_error)
            found.append([*start, *self._snippet(hit.snippet, hit.ranges, measure(start))])
            found += [self._near(one) for one in hit.after]
            if hit.before or hit.after:
                found.append([])
        if found and not found[-1]:
            found.pop()
        return found

    def _start(self, place: str, label: str, *, is_error: bool) -> list[Part]:
        parts: list[Part] = ["  "]
        for text, size, style in zip((place, label), self._sizes, ("dim", "red"), strict=True):
            if size:
                padded = cells.pad(_cut(self._screen, text, size), size) + "  "
                parts.append(span(padded, style) if style == "dim" or is_error else padded)
        return parts

    def _snippet(self, text: str, ranges: Sequence[tuple[int, int]], used: int) -> list[Part]:
        """Cut a snippet to the room there is, and mark what was found."""
        room = None if self._screen.width is None else max(_LEAST, self._screen.width - used)
        parts = _marked(text, ranges)
        if room is None or self._measure(parts) <= room:
            return parts
        from clew.catalog.snippets import snippet

        width = room
        while True:
            # Counted in characters; some of them take two cells, or are drawn as a few letters.
            parts = _marked(*snippet(text, ranges, width=width))
            over = self._measure(parts) - room
            if over <= 0 or width <= 3:
                return parts
            width = max(3, width - max(1, over // 2))

    def _measure(self, parts: Sequence[Part]) -> int:
        total = 0
        for part in parts:
            text = part if isinstance(part, str) else part.text
            total += cells.width(_glyphs(self._screen, text))
        return total

    def _near(self, one: Near) -> list[Part]:
        label = _FIELD_LABELS.get(one.text.field, one.text.field)
        start = " " * (2 + sum(size + 2 for size in self._sizes if size))
        text = f"{label}: {one_line(one.text.text[:2000])}"
        if self._screen.width is not None:
            text = _cut(self._screen, text, max(_LEAST, self._screen.width - len(start)))
        return [start, span(text, "dim")]


_FIELD_LABELS: Final = {**_LABELS, "text": "text", "tool_input": "input", "tool_result": "output"}


def _glyphs(screen: Screen, text: str) -> str:
    """Return a text as the screen will draw it."""
    from clew.faces.cli.terminal import ascii_glyphs, plain

    drawn = plain(text)
    return ascii_glyphs(drawn) if screen.is_ascii else drawn


def _cut(screen: Screen, text: str, size: int) -> str:
    mark = "..." if screen.is_ascii else "…"
    return cells.cut_end(_glyphs(screen, one_line(text)), size, mark=mark)


def _marked(text: str, ranges: Sequence[tuple[int, int]]) -> list[Part]:
    parts: list[Part] = []
    at = 0
    for first, last in ranges:
        parts += [text[at:first], span(text[first:last], "reverse")]
        at = last
    parts.append(text[at:])
    return [part for part in parts if part != ""]


def _place(hit: Hit) -> str:
    if hit.where == "sub-agent":
        return f"sub-agent {hit.agent_id[:7]}" if hit.agent_id else "sub-agent"
    turn = f"turn {hit.turn}" if hit.turn is not None else ""
    return " ".join(filter(None, (turn, _WHERE.get(hit.where or "", ""))))


def _label(hit: Hit) -> str:
    if hit.field == "text":
        return "answer" if hit.role == "assistant" else "note"
    if hit.field in _LABELS:
        return _LABELS[hit.field]
    mark = "✗ " if hit.is_error else ""
    side = "input" if hit.field == "tool_input" else "output"
    return f"{mark}{hit.tool} {side}" if hit.tool else f"{mark}{side}"


def _totals(result: Result, ids: dict[str, str]) -> list[Sequence[Part]]:
    shown = len(result.hits)
    sessions = words.count(len({hit.owner for hit in result.hits}), "session")
    plus = "+" if result.is_least else ""
    if shown < result.total:
        first = f"{shown:,} of {result.total:,}{plus} hits, in {sessions}"
    else:
        first = f"{words.count(result.total, 'hit')}{plus} in {sessions}"
    facts: list[Sequence[Part]] = [
        (first,),
        (f"{result.searched:,} searched",),
        (span(_elapsed(result.elapsed_ms), "dim"),),
        (_opens(_first(result.hits), ids),),
    ]
    if shown < result.total:
        facts.append(("more: --all",))
    return facts


def _elapsed(ms: int) -> str:
    return f"{ms} ms" if ms < 1000 else f"{ms / 1000:.1f} s"


def _first(hits: Sequence[Hit]) -> Hit:
    """Return the first hit that stands in a turn, of the first session; a title stands in none."""
    return next((hit for hit in hits if hit.owner == hits[0].owner and hit.turn is not None), hits[0])


def _opens(hit: Hit, ids: dict[str, str]) -> str:
    """Return the command that shows a hit."""
    if hit.where == "sub-agent" and hit.path != hit.owner and hit.agent_id:
        name = hit.agent_id
    else:
        name = _short(hit, ids)
        if hit.turn is not None:
            return f"clew show {name} --turn {hit.turn}"
    return f"clew show {name} --at {hit.uuid[:8]}" if hit.uuid else f"clew show {name}"


def _nothing(screen: Screen, result: Result) -> None:
    request = result.request
    if not result.searched and not _narrowed(request):
        screen.note("No sessions in ", " or ".join(result.looked_in), ".")
        screen.note(span("try: ", "dim"), "clew demo DIR, which writes some to look at")
        return
    what = {"words": "holds", "literal": "has the letters", "regex": "fits"}[request.mode]
    where = f" in {words.count(result.searched, 'session')} of {' or '.join(result.looked_in)}"
    screen.note(f"Nothing {what} {request.text}{where}{_narrowed(request)}.")
    if result.suggestions:
        screen.note(span("did you mean: ", "dim"), ", ".join(result.suggestions))
    elif _narrowed(request):
        screen.note(span("try: ", "dim"), "without ", _narrowed(request).removeprefix(", "))
    elif request.mode == "words" and not request.text.endswith("*"):
        screen.note(
            span("try: ", "dim"), "a part of a word with --literal, or its beginning with a star: word*"
        )


def _narrowed(request: Request) -> str:
    """Return the filters that were given, as they are typed."""
    given: list[str] = []
    if request.fields is not None:
        given.append(f"--in {','.join(sorted(request.fields))}")
    for name in ("role", "tool", "project", "session", "since", "until", "model", "git_branch"):
        value = getattr(request, name)
        if value is not None:
            given.append(f"--{name.replace('_', '-')} {value}")
    if request.errors:
        given.append("--errors")
    return f", {' '.join(given)}" if given else ""
