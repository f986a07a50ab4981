"""List the sessions of a store: what each is called, where and when it was, and what it took.

Without a full read the first and last lines tell the title, the times and the project, and the counts are
None. A full read goes through every file once, sub-agents included: what they used is their session's.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from clew.actions.token_documents import tokens_document
from clew.format.times import iso
from clew.session.pricing import DATE
from clew.store.files import Skipped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from clew.session.fold import Facts, SessionKind
    from clew.session.pricing import Tokens
    from clew.session.titles import TitleSource, Told
    from clew.store.files import Listing, SessionFile, Store

CONVERSATIONS = frozenset({"conversation", "mixed"})
"""The kinds that hold a conversation: what a person means by a session."""


class PullRequest(NamedTuple):
    """A pull request that a session tells of."""

    number: int | str | None
    """A text where no database takes so great a number."""

    url: str | None
    repository: str | None


class SessionRow(NamedTuple):
    """One session file in the list. What was not counted, or is not known, is None."""

    id: str
    path: str
    project: str
    """The folder it worked in, as its lines tell; the name of its project folder where they do not."""

    folder: str
    slug: str | None
    title: str | None
    title_source: TitleSource | None
    session_ids: tuple[str, ...]
    lines: int | None
    first_prompt: str | None
    started: str | None
    ended: str | None
    turns: int | None
    messages: int | None
    tool_calls: int | None
    failed_calls: int | None
    tokens: Tokens | None
    """Its sub-agents' with its own; a message that stands in several sessions is one session's only."""

    cost_usd: float | None
    models: tuple[str, ...]
    git_branch: str | None
    client_versions: tuple[str, ...]
    agents: int
    kind: SessionKind
    live: bool
    damaged: int | None
    prs: tuple[PullRequest, ...]
    bytes: int
    changed: float
    """When the file was last written, in seconds since 1970."""

    unpriced_messages: int | None = None
    """Messages whose model has no known price; they are not in the cost."""

    unpriced_models: tuple[str, ...] = ()

    @property
    def is_conversation(self) -> bool:
        """Whether it is what a person means by a session."""
        return self.kind in CONVERSATIONS

    def as_dict(self) -> dict[str, object]:
        """Return the row in the shape of `clew ls --json`."""
        # Written out: to ask for the fields of each row took longer than all the rest of a list.
        return {
            "id": self.id,
            "path": self.path,
            "project": self.project,
            "folder": self.folder,
            "slug": self.slug,
            "title": self.title,
            "title_source": self.title_source,
            "session_ids": [*self.session_ids],
            "lines": self.lines,
            "first_prompt": self.first_prompt,
            "started": self.started,
            "ended": self.ended,
            "turns": self.turns,
            "messages": self.messages,
            "tool_calls": self.tool_calls,
            "failed_calls": self.failed_calls,
            "tokens": None if self.tokens is None else tokens_document(self.tokens),
            "cost_usd": self.cost_usd,
            "models": [*self.models],
            "git_branch": self.git_branch,
            "client_versions": [*self.client_versions],
            "agents": self.agents,
            "kind": self.kind,
            "live": self.live,
            "damaged": self.damaged,
            "prs": [pr._asdict() for pr in self.prs],
            "bytes": self.bytes,
            "changed": iso(int(self.changed * 1000)),
            "unpriced_messages": self.unpriced_messages,
            "unpriced_models": [*self.unpriced_models],
        }


class Tally(NamedTuple):
    """What there is in a store, over all of its session files."""

    ids: tuple[str, ...]
    projects: frozenset[str]
    kinds: Mapping[str, int]
    """How many files there are of each kind."""

    damaged: int
    """Files with damage in them, without sub-agents'."""

    @property
    def conversations(self) -> int:
        """How many sessions there are, as a person means them."""
        return sum(self.kinds.get(kind, 0) for kind in CONVERSATIONS)


class SessionList(NamedTuple):
    """The sessions of a store, the one written last first, and what there was beside them."""

    rows: tuple[SessionRow, ...]
    """Every session file, also those without a conversation in them; or the first of them, see `known`."""

    agents: int
    """Sub-agents' files."""

    skipped: tuple[Skipped, ...]
    looked_in: tuple[str, ...]
    is_full: bool
    was_cut: tuple[str, ...] = ()
    """Files that got shorter while they were read."""

    price_date: str = DATE
    """The date of the prices that were used."""

    agents_damaged: int = 0
    """Sub-agents' files with damage in them."""

    notes: tuple[str, ...] = ()
    """What a person should know of how the list was made."""

    callers: frozenset[str] | None = None
    """The paths of the sessions that called the tool that was asked for, where that is known."""

    known: Totals | None = None
    """What is known of all where `rows` are the first only."""

    @property
    def conversations(self) -> tuple[SessionRow, ...]:
        """The sessions as a person means them: `@1` is the first."""
        return tuple(row for row in self.rows if row.is_conversation)

    @property
    def tally(self) -> Tally:
        """What there is, whether it is in `rows` or not."""
        if self.known is not None:
            return self.known.tally
        kinds: dict[str, int] = {}
        for row in self.rows:
            kinds[row.kind] = kinds.get(row.kind, 0) + 1
        return Tally(
            tuple(row.id for row in self.rows),
            frozenset(row.project for row in self.rows),
            kinds,
            sum(bool(row.damaged) for row in self.rows),
        )

    def totals(self, rows: Iterable[SessionRow]) -> Totals:
        """Say what a person must know of some rows of the list to read their numbers."""
        if self.known is not None:
            return self.known
        chosen = list(rows)
        strangers = {model for row in chosen for model in row.unpriced_models}
        has_cost = any(row.cost_usd for row in chosen)
        is_damaged = any(row.damaged for row in chosen)
        return Totals(self.tally, len(chosen), tuple(sorted(strangers)), has_cost, is_damaged)


class Totals(NamedTuple):
    """What a person must know of some rows to read their numbers."""

    tally: Tally
    rows: int
    unpriced_models: tuple[str, ...]
    has_cost: bool
    is_damaged: bool


def list_sessions(
    store: Store,
    *,
    now: float,
    full: bool | int = False,
    jobs: int | None = None,
    start: Callable[[int], Callable[[], None]] | None = None,
    listing: Listing | None = None,
) -> SessionList:
    """List the sessions of a store at the time `now` (seconds since 1970), by reading their files.

    `full` reads every file; a number does so only if there are no more bytes than that. `start` is told how
    many files are going to be read and returns what is called after each.
    """
    # Imported here: a list that comes from the catalog needs nothing of it.
    from clew.actions.glances import Glance, glance, told_elsewhere
    from clew.store.heads import group_agents
    from clew.store.live import liveness, running

    listing = store.listing() if listing is None else listing
    size = sum(file.size for file in (*listing.sessions, *listing.agents))
    is_full = full if isinstance(full, bool) else size <= full
    looks = [glance(file) for file in listing.newest()]
    seen = [look for look in looks if isinstance(look, Glance)]
    told = told_elsewhere(seen)
    groups = group_agents(listing)
    processes = running(store.roots.found)

    def is_live(file: SessionFile) -> bool:
        return liveness(file, now=now, processes=processes, look_for_open=False).is_live

    rows = [quick_row(look.file, look.facts(told)) for look in seen]
    rows = [
        row._replace(
            agents=len(groups.of(look.file)),
            live=is_live(look.file),
        )
        for row, look in zip(rows, seen, strict=True)
    ]
    skipped = [*listing.skipped, *(look for look in looks if isinstance(look, Skipped)), *groups.skipped]
    result = SessionList(
        tuple(rows), len(listing.agents), tuple(skipped), store.roots.looked_in, is_full=False
    )
    if not is_full:
        return result
    files = [look.file for look in seen]
    return _read_fully(result, files, listing, groups.of, is_live, told=told, jobs=jobs, start=start)


def _read_fully(
    quick: SessionList,
    sessions: Sequence[SessionFile],
    listing: Listing,
    agents_of: Callable[[SessionFile], Sequence[SessionFile]],
    is_live: Callable[[SessionFile], bool],
    *,
    told: Told,
    jobs: int | None,
    start: Callable[[int], Callable[[], None]] | None,
) -> SessionList:
    # Imported here: a quick list needs nothing of it.
    from clew.actions.passes import sweep
    from clew.actions.tolls import Toll, share_out, take_toll, unpriced_models

    files = [*sessions, *listing.agents]
    advance = None if start is None else start(len(files))
    tolls = sweep(partial(take_toll, summaries=told), files, jobs=jobs, advance=advance)
    by_path = {toll.path: toll for toll in tolls if isinstance(toll, Toll)}
    owner = {file.path: file for file in files}
    owner |= {agent.path: session for session in sessions for agent in agents_of(session)}
    shares = share_out(by_path.values(), owner)
    rows: list[SessionRow] = []
    for row, file in zip(quick.rows, sessions, strict=True):
        toll = by_path.get(file.path)
        if toll is None:
            continue
        whole = quick_row(file, toll.facts)
        share = shares[file.path]
        rows.append(
            whole._replace(
                lines=toll.facts.lines,
                turns=toll.facts.turns,
                messages=toll.facts.messages,
                tool_calls=toll.facts.tool_calls,
                failed_calls=toll.facts.failed_calls,
                tokens=share.tokens,
                cost_usd=share.cost_usd,
                unpriced_messages=share.unpriced,
                unpriced_models=unpriced_models(share.models),
                agents=row.agents,
                live=row.live,
                damaged=damaged_lines(toll.facts, is_live=row.live),
            )
        )
    return quick._replace(
        rows=tuple(rows),
        is_full=True,
        skipped=(*quick.skipped, *(toll for toll in tolls if isinstance(toll, Skipped))),
        was_cut=tuple(toll.path for toll in by_path.values() if toll.was_cut),
        agents_damaged=sum(
            damaged_lines(by_path[file.path].facts, is_live=is_live(file)) > 0
            for file in listing.agents
            if file.path in by_path
        ),
    )


def damaged_lines(facts: Facts, *, is_live: bool) -> int:
    """Count the damaged lines; the unfinished end of a live session is being written, not damaged."""
    return facts.damaged - (is_live and facts.is_unfinished)


def quick_row(file: SessionFile, facts: Facts) -> SessionRow:
    """Return the row of a file without the counts."""
    return SessionRow(
        id=file.id,
        path=file.path,
        project=facts.cwd or file.folder,
        folder=file.folder,
        slug=facts.slug,
        title=facts.title,
        title_source=facts.title_source,
        session_ids=facts.session_ids,
        lines=None,
        first_prompt=facts.first_prompt,
        started=iso(facts.started),
        ended=iso(facts.ended),
        turns=None,
        messages=None,
        tool_calls=None,
        failed_calls=None,
        tokens=None,
        cost_usd=None,
        models=facts.models,
        git_branch=facts.git_branch,
        client_versions=facts.versions,
        agents=0,
        kind=facts.kind,
        live=False,
        damaged=None,
        prs=tuple(PullRequest(pr.number, pr.url, pr.repository) for pr in facts.prs),
        bytes=file.size,
        changed=file.mtime_ns / 1e9,
    )


def narrow(
    rows: Iterable[SessionRow], *, project: str | None = None, since: float | None = None
) -> list[SessionRow]:
    """Leave the rows of a project (see `is_of_project`) and those active since a moment."""
    return [
        row
        for row in rows
        if (project is None or is_of_project(row.project, row.folder, project))
        and (since is None or row.changed >= since)
    ]


def is_of_project(project: str, folder: str, wanted: str) -> bool:
    """Whether a project, with its project folder, is what a person means: by a path, or a part of either."""
    if wanted.startswith((".", "~", "/")):
        place = Path(wanted).expanduser().absolute()
        own = Path(project)
        return own == place or place in own.parents or place.resolve() in (own, *own.parents)
    part = wanted.casefold()
    return part in project.casefold() or part in folder.casefold()
