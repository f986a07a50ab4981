"""Search by the index: it names the lines, and each is read and looked at before it is a hit."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.actions.opening import find_file
from clew.actions.search_places import placed
from clew.actions.search_values import FIELDS, Hit, Result, Wish
from clew.format.times import iso

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from clew.actions.search_lines import Doubt, Lines, Match
    from clew.actions.search_values import Known
    from clew.catalog.catalog import Catalog, Progress
    from clew.catalog.database import Database
    from clew.catalog.query import Query
    from clew.catalog.searching import About, Line
    from clew.store.files import Listing, Store

_LOOKED_AT: Final = 20_000
"""Lines looked at for filters that the index cannot answer; then the count is only a least one."""

_GROUPED: Final = 1_000
"""Lines gone through to count the hits of each session."""

_ATTEMPTS: Final = 3
"""How often the index is asked where a file is rewritten each time before its lines are read."""

_EVERY: Final = 0.2
"""Seconds between two looks whether all that was said is in a new index."""


def by_index(
    store: Store,
    asked: Wish,
    tell: Callable[[Progress], object] | None,
    early: Callable[[Result], object] | None,
    known: Known | None = None,
    pulse: Callable[[], object] | None = None,
) -> Result:
    """Bring the index up to date and ask it; `early` may be given a part of the answer meanwhile."""
    from clew.catalog.catalog import Catalog, Options
    from clew.catalog.unavailable import CatalogUnavailableError
    from clew.catalog.update import Update

    for attempt in range(1, _ATTEMPTS + 1):
        told = known if attempt == 1 else None
        listing = store.listing() if told is None else told.listing
        teller = _Teller(store, asked, listing, tell, early)
        with Catalog.open(store) as catalog:
            update = None if told is None else told.update
            if asked.request.as_it_is:
                update = Update(is_current=False)
            elif update is None:
                update = catalog.update(listing, options=Options(jobs=asked.request.jobs), tell=teller)
                if known is not None:
                    known.listing, known.update = listing, update
            result, doubt = _ask(catalog, store, asked, listing, pulse)
        result = replace(result, notes=update.notes, skipped=(*listing.skipped, *update.skipped))
        if doubt is None or not update.is_current or asked.request.by_rank:
            return result
        # What was cut off had no place to be found at. But what another file holds, the index cannot name.
        if attempt == _ATTEMPTS and doubt == "rewritten":
            return result
    raise CatalogUnavailableError("files are replaced all the time")


def _ask(
    catalog: Catalog,
    store: Store,
    asked: Wish,
    listing: Listing,
    pulse: Callable[[], object] | None = None,
) -> tuple[Result, Doubt | None]:
    """Ask an index as it is; also say whether lines may be elsewhere by now."""
    assert asked.query is not None  # words are always read
    with catalog.reading() as database:
        # Of one moment: another process may be bringing it up to date.
        database.execute("BEGIN")
        found = IndexSearch(database, asked, asked.query, store, listing)
        hits = placed(found.hits(pulse), asked.request.context)
        count = found.count()
        suggestions = () if hits or not asked.request.suggests else found.suggestions()
        database.execute("COMMIT")
    result = Result(
        asked.request,
        tuple(hits),
        *count,
        found.searched,
        0,
        store.roots.looked_in,
        suggestions,
        ids=tuple(file.id for file in listing.sessions),
        more=found.more,
    )
    return result, found.doubt


class _Teller:
    """Passes on how the index comes along, and answers once when all that was said is in it."""

    def __init__(
        self,
        store: Store,
        asked: Wish,
        listing: Listing,
        tell: Callable[[Progress], object] | None,
        early: Callable[[Result], object] | None,
    ) -> None:
        self._store = store
        self._asked = asked
        self._listing = listing
        self._tell = tell
        self._early = early
        self._is_said = False
        self._asks_at = 0.0

    def __call__(self, step: Progress) -> None:
        """Take note of a step."""
        if step.stage == "dialogue":
            self._is_said = step.files >= step.files_total
        elif step.stage == "tools" and self._is_said and self._early is not None:
            now = time.monotonic()
            if now >= self._asks_at:
                self._asks_at = now + _EVERY
                self._answer(self._early)
        if self._tell is not None:
            self._tell(step)

    def _answer(self, early: Callable[[Result], object]) -> None:
        from clew.catalog.catalog import Catalog
        from clew.catalog.schema import TALK
        from clew.catalog.searching import count_files
        from clew.catalog.unavailable import CatalogUnavailableError

        request = self._asked.request
        fields = frozenset(name for name in FIELDS if name in TALK) & (request.fields or frozenset(FIELDS))
        try:
            with Catalog.open(self._store) as catalog:
                with catalog.reading() as database:
                    # The last of them may be read and not yet written.
                    is_there = count_files(database) >= len(self._listing.sessions) + len(
                        self._listing.agents
                    )
                if is_there and fields:
                    asked = replace(self._asked, request=replace(request, fields=fields))
                    early(_ask(catalog, self._store, asked, self._listing)[0])
        except CatalogUnavailableError:
            is_there = True  # then the whole answer is the first one
        if is_there:
            self._early = None


class _Count(NamedTuple):
    """How many hits there are; the fields are those of a `Result`."""

    total: int
    is_exact: bool
    is_least: bool


class IndexSearch:
    """One search by the index."""

    def __init__(self, database: Database, asked: Wish, query: Query, store: Store, listing: Listing) -> None:
        from clew.catalog.searching import Layouts, count_sessions

        self._database = database
        self._asked = asked
        self._query = query
        self._abouts: dict[str, About | None] = {}
        self._layouts = Layouts(database)
        self._owners = self._chosen(store, listing)
        self.searched = count_sessions(database) if self._owners is None else len(self._owners)
        self._count: Callable[[], tuple[int, bool]] = lambda: (0, True)
        self._matched = self._looked_at = 0
        self.doubt: Doubt | None = None
        self.more: dict[str, int] = {}
        """Lines that were not read, as their sessions have hits enough."""
        self._have: dict[str, int] = {}
        self._told = 0

    def _chosen(self, store: Store, listing: Listing) -> frozenset[str] | None:
        """Return the sessions meant, by the paths of their files; None for all."""
        from clew.actions.listing import is_of_project
        from clew.catalog.searching import all_about

        request = self._asked.request
        owners: set[str] | None = None
        if request.session is not None:
            owners = {find_file(store, request.session, listing=listing).path}
        if request.project is not None:
            of = {
                one.path
                for one in all_about(self._database)
                if is_of_project(one.project, one.folder, request.project)
            }
            owners = of if owners is None else owners & of
        return None if owners is None else frozenset(owners)

    def hits(self, pulse: Callable[[], object] | None = None) -> list[Hit]:
        """Return the hits, as many as are wanted; `pulse` is called before each line is looked at."""
        from clew.actions.search_lines import Lines
        from clew.catalog.searching import Asked, Search

        request = self._asked.request
        found = Search(
            self._database,
            Asked(
                self._query,
                request.fields,
                request.role,
                self._owners,
                self._asked.since_ms,
                self._asked.until_ms,
                request.by_rank,
            ),
        )
        lines = Lines()
        hits: list[Hit] = []
        looked_at = matched = 0
        limit = request.limit
        try:
            for line in found.lines():
                if pulse is not None:
                    pulse()
                is_full = limit is not None and len(hits) >= limit and request.per_session is None
                if request.per_session is not None and self._is_enough(looked_at):
                    break
                if is_full and (not request.reads_lines or looked_at >= _LOOKED_AT):
                    break
                looked_at += 1
                if self._is_counted_only(line, hits, looked_at):
                    continue
                for match in lines.matches(line, self._query, request.fields):
                    tool = self._tool(lines, line, match)
                    model = match.facts.message.model if match.facts.message is not None else None
                    if self._asked.fits(match.text, tool, model, match.facts.git_branch):
                        matched += 1
                        if limit is None or len(hits) < limit or request.per_session is not None:
                            hits.append(self._hit(line, match, tool))
        finally:
            lines.close()
        self.doubt = lines.doubt
        self._count = found.count
        self._matched, self._looked_at = matched, looked_at
        return hits

    def _is_enough(self, looked_at: int) -> bool:
        """Say whether no more lines are gone through for the hits of each session."""
        request = self._asked.request
        if request.enough is None or request.sessions is None or looked_at < request.enough:
            return looked_at >= _GROUPED
        return len(self._have) >= request.sessions

    def _is_counted_only(self, line: Line, hits: Sequence[Hit], looked_at: int) -> bool:
        """Say whether a line need not be read, and count it if so."""
        request, owner = self._asked.request, line.source.owner
        if request.per_session is None or request.reads_lines or looked_at <= (request.limit or 0):
            return False
        while self._told < len(hits):
            mine = hits[self._told].owner
            self._have[mine] = self._have.get(mine, 0) + 1
            self._told += 1
        wanted = request.per_session
        if owner not in self._have and request.sessions is not None and len(self._have) >= request.sessions:
            wanted = 0  # there are sessions enough
        if self._have.get(owner, 0) < wanted:
            return False
        self.more[owner] = self.more.get(owner, 0) + 1
        return True

    def count(self) -> _Count:
        """Return how many hits there are; asked after them, as they need not wait for it."""
        many, is_all = self._count()
        rest = many - self._looked_at
        if self._asked.request.reads_lines:
            return _Count(self._matched, True, rest > 0 or not is_all)
        # What was not looked at is counted by lines; nearly all have one text.
        rest += sum(self.more.values())
        return _Count(self._matched + max(0, rest), rest <= 0 and is_all, not is_all)

    def _tool(self, lines: Lines, line: Line, match: Match) -> str | None:
        if match.text.tool is not None or match.text.field != "tool_result":
            return match.text.tool
        is_asked = self._asked.request.tool is not None
        if match.call is not None:
            return lines.tool_of(self._database, line, match.call, surely=is_asked)
        return lines.tool_of_output(line) if is_asked and line.is_output else None

    def _hit(self, line: Line, match: Match, tool: str | None) -> Hit:
        from clew.catalog.snippets import snippet
        from clew.catalog.sources import AGENT, SESSION

        source, facts = line.source, match.facts
        placed = self._layouts.stands(line) if source.kind == SESSION else None
        place, turn = placed or (None, None)
        role = facts.role
        if role is None and place is not None:
            role = facts.kind.partition("/")[0]
        about = self._about(source.owner)
        text, ranges = snippet(match.text.text, match.ranges, width=self._asked.request.width)
        is_agent = source.kind == AGENT
        return Hit(
            session=source.session,
            path=source.path,
            line=line.number or None,
            offset=line.offset,
            uuid=facts.uuid,
            time=iso(line.time_ms) if line.time_ms is not None else facts.time,
            field=match.text.field,
            tool=tool,
            snippet=text,
            ranges=tuple(ranges),
            project=about.project if about else None,
            title=about.title if about else None,
            agent_id=source.name.removeprefix("agent-") if is_agent else facts.agent_id,
            where="sub-agent" if is_agent else "spilled" if line.is_output else place,
            role="user" if line.is_output else role,
            # A title is of the whole session, wherever it was written.
            turn=None if place == "sub-agent" or match.text.field == "title" else turn,
            is_error=match.text.is_error,
            ended_ms=about.ended_ms if about else line.ms,
            owner=source.owner,
            call=match.call,
            model=facts.message.model if facts.message is not None else None,
        )

    def _about(self, path: str) -> About | None:
        from clew.catalog.searching import about

        if path not in self._abouts:
            self._abouts[path] = about(self._database, path)
        return self._abouts[path]

    def suggestions(self) -> tuple[str, ...]:
        """Return words like those that are nowhere."""
        from clew.catalog.searching import similar

        found = [word for asked in self._query.words for word in similar(self._database, asked)]
        return tuple(dict.fromkeys(found))[:3]
