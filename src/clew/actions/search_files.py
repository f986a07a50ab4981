"""Search by reading the files themselves: for a literal, a pattern, and words where there is no index."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from clew.actions.opening import agent_files, find_file
from clew.actions.search_places import placed
from clew.actions.search_values import Hit, Request, Result, Wish
from clew.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from clew.actions.raw_search import Found
    from clew.store.files import Listing, SessionFile, Store


class _Chosen(NamedTuple):
    """The files that a scan looks through."""

    sessions: list[SessionFile]
    agents: list[SessionFile]


def by_scan(store: Store, asked: Wish, start: Callable[[int], Callable[[int], object]] | None) -> Result:
    """Search the files. `start` is told how many there are, and gives what is told of each read."""
    from clew.actions.outputs import scan_outputs
    from clew.actions.scanning import Question, scan

    request = asked.request
    if request.by_rank:
        raise UsageError("--rank needs the index, which has words only", hint="leave out --rank")
    listing = store.listing()
    chosen = _chosen(store, listing, request)
    files = [*chosen.sessions, *chosen.agents]
    question = Question(
        request.text,
        asked.query,
        is_pattern=request.mode == "regex",
        ignore_case=request.ignore_case,
        keep=asked,
        filters_tools=request.tool is not None,
        limit=1 << 40 if request.limit is None else request.limit,
    )
    advance = None if start is None else start(len(files))
    scanned = scan(files, question, jobs=request.jobs, advance=advance)
    outputs = scan_outputs(chosen.sessions, question)
    by_path = {file.path: file for file in files}
    titles = _Titles()
    found = sorted(
        [(one, None) for one in scanned.found] + [(one, owner) for one, owner in outputs.found],
        key=lambda pair: (-pair[0].ms, pair[0].path, -pair[0].offset, -pair[0].block),
    )[: request.limit]
    owner_of = _owners(listing, [by_path[one.path] for one, _ in found if one.path in by_path])
    hits: list[Hit] = []
    for one, owner in found:
        file = by_path.get(one.path)
        session = owner or (owner_of.get(one.path, file) if file is not None else None)
        hits.append(_scanned_hit(one, session, file, titles, request.width, is_output=owner is not None))
    notes = ["there was no time to read all files"] if scanned.is_partial or outputs.is_partial else []
    return Result(
        request,
        tuple(placed(hits, request.context)),
        scanned.total + outputs.total,
        True,
        scanned.is_partial or outputs.is_partial,
        len(chosen.sessions),
        0,
        store.roots.looked_in,
        (),
        tuple(notes),
        (*listing.skipped, *scanned.skipped),
        has_index=False,
        ids=tuple(file.id for file in listing.sessions),
    )


def _chosen(store: Store, listing: Listing, request: Request) -> _Chosen:
    from clew.actions.glances import Glance, glance
    from clew.actions.listing import is_of_project

    sessions, agents = list(listing.sessions), list(listing.agents)
    if request.session is not None:
        named = find_file(store, request.session, listing=listing)
        agents = [named] if named.is_agent else list(agent_files(store, named, listing=listing))
        sessions = [] if named.is_agent else [named]
    if request.project is not None:

        def fits(file: SessionFile) -> bool:
            seen = glance(file)
            cwd = seen.alone.cwd if isinstance(seen, Glance) else None
            return is_of_project(cwd or file.folder, file.folder, request.project or "")

        sessions = [file for file in sessions if fits(file)]
        kept = {file.path for file in sessions}
        owner_of = _owners(listing, agents)
        agents = [agent for agent in agents if (owner := owner_of.get(agent.path)) and owner.path in kept]
    return _Chosen(sessions, agents)


def _owners(listing: Listing, files: Iterable[SessionFile]) -> dict[str, SessionFile]:
    """Return the sessions that sub-agents belong to, by the paths of their files."""
    from clew.store.heads import group_agents

    agents = [file for file in files if file.is_agent]
    groups = group_agents(listing, agents)
    return {agent.path: file for file in listing.sessions for agent in groups.of(file)} if agents else {}


class _Titles:
    """What sessions are called, for the few that hits are in."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str | None, str, int]] = {}

    def of(self, file: SessionFile) -> tuple[str | None, str, int]:
        """Return the title, the project and when it ended."""
        from clew.actions.glances import Glance, glance

        if file.path not in self._known:
            seen = glance(file)
            title, project, ended = None, file.folder, file.mtime_ns // 1_000_000
            if isinstance(seen, Glance):
                facts = seen.alone
                title, project, ended = facts.title, facts.cwd or project, facts.ended or ended
            self._known[file.path] = title, project, ended
        return self._known[file.path]


def _scanned_hit(
    one: Found,
    session: SessionFile | None,
    file: SessionFile | None,
    titles: _Titles,
    width: int,
    *,
    is_output: bool,
) -> Hit:
    from clew.catalog.snippets import snippet

    text, ranges = snippet(one.text, one.ranges, width=width)
    title, project, ended = (None, None, one.ms) if session is None else titles.of(session)
    is_agent = file is not None and file.is_agent
    return Hit(
        session=session.id if session is not None else one.session or "",
        path=one.path,
        line=one.line or None,
        offset=one.offset,
        uuid=one.uuid,
        time=one.time,
        field=one.field,
        tool=one.tool,
        snippet=text,
        ranges=tuple(ranges),
        project=project,
        title=title,
        agent_id=file.id.removeprefix("agent-") if file is not None and is_agent else None,
        where="sub-agent" if is_agent else "spilled" if is_output else None,
        is_error=one.is_error,
        ended_ms=ended,
        owner=session.path if session is not None else one.path,
        call=one.call,
    )
