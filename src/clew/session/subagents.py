"""Sub-agents: which call started each of them, to any depth.

Up to 1.0.128 a sub-agent's lines stand in the session's own file, later each has a file of its own. Files are
given by the caller as values; this room opens none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from clew.format.entry import as_mapping
from clew.session.calls import call_block, structured
from clew.session.order import in_order
from clew.session.prompts import read
from clew.session.said import said
from clew.session.session import COMPACT_SUMMARY, META, SIDECHAIN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from clew.session.calls import Call
    from clew.session.session import Session

Evidence = Literal["result", "meta", "progress", "prompt"]

_TOOLS: Final = frozenset({"Task", "Agent"})
_PROGRESS: Final = "progress/agent_progress"


@dataclass(frozen=True, slots=True)
class Source:
    """A sub-agent's own file, as the caller found it."""

    agent_id: str
    session: Session
    key: str = ""
    """What the caller knows the file by, such as its path."""

    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The decoded `.meta.json` beside it (2.1.80 and later)."""


@dataclass(frozen=True, slots=True)
class Agent:
    """A sub-agent and those it started in its turn."""

    agent_id: str
    type: str | None
    description: str | None
    started_by: str | None
    """The id of the call; None when nothing tells it, as for a warm-up."""

    evidence: Evidence | None
    """What told it."""

    source: Source | None = None
    """Its own file; None when its lines stand in the session's."""

    rows: Sequence[int] = ()
    """Its rows in the session's file; empty when it has its own."""

    children: tuple[Agent, ...] = ()


@dataclass(slots=True)
class _Start:
    """A call that starts a sub-agent."""

    call: Call
    owner: str | None
    """The sub-agent that called; None for the session itself."""

    time: int | None
    agent_id: str | None
    prompt: str | None
    type: str | None
    description: str | None
    is_taken: bool = False


@dataclass(slots=True)
class _Found:
    """A sub-agent for which a call is looked for."""

    agent_id: str
    source: Source | None
    rows: Sequence[int]
    prompt: str | None
    time: int | None
    start: _Start | None = None
    evidence: Evidence | None = None


def agents(
    session: Session, sources: Iterable[Source] = (), *, calls: Iterable[Call] | None = None
) -> tuple[Agent, ...]:
    """Hang each sub-agent under the call that started it; those that nothing started come last.

    `calls` are those of the whole session, or those of them that `may_start`, where they are paired already.
    """
    found = [_in_file(session, name, rows) for name, rows in _inline(session).items()]
    starts = _starts(session, None, found, said(session).pairs.calls if calls is None else calls)
    progress = _progress(session)
    for source in sources:
        prompt, time = _first_prompt(source.session, in_order(source.session.table))
        agent = _Found(source.agent_id, source, (), prompt, time)
        found.append(agent)
        starts += _starts(source.session, source.agent_id, (), said(source.session).pairs.calls)
        progress.update(_progress(source.session))
    _match(found, starts, progress)
    return _tree(found)


def may_start(call: Call) -> bool:
    """Say whether a call may have started a sub-agent."""
    return call.name in _TOOLS or call.agent_id is not None


def _match(found: Sequence[_Found], starts: Sequence[_Start], progress: Mapping[str, str]) -> None:
    by_agent = {start.agent_id: start for start in reversed(starts) if start.agent_id}
    by_call = {start.call.id: start for start in reversed(starts) if start.call.id}
    for agent in found:
        _take(agent, by_agent.get(agent.agent_id), "result")
        _take(agent, by_call.get(_text(_meta(agent), "toolUseId") or ""), "meta")
        _take(agent, by_call.get(progress.get(agent.agent_id, "")), "progress")
    # Only then by what it was told, the earliest agent first: two may have been told the same.
    waiting: dict[str, list[_Start]] = {}
    for start in sorted((s for s in starts if not s.is_taken), key=lambda s: (s.time is None, s.time or 0)):
        if start.prompt:
            waiting.setdefault(start.prompt.strip(), []).append(start)
    for agent in sorted(found, key=lambda a: (a.time is None, a.time or 0)):
        if agent.start is None and agent.prompt:
            fitting = [s for s in waiting.get(agent.prompt.strip(), ()) if not s.is_taken]
            _take(agent, next((s for s in fitting if s.owner != agent.agent_id), None), "prompt")


def _take(agent: _Found, start: _Start | None, evidence: Evidence) -> None:
    if start is not None and agent.start is None and not start.is_taken and start.owner != agent.agent_id:
        agent.start, agent.evidence = start, evidence
        start.is_taken = True


def _tree(found: Sequence[_Found]) -> tuple[Agent, ...]:
    below: dict[str | None, list[_Found]] = {}
    loose: list[_Found] = []
    for agent in found:
        if agent.start is None:
            loose.append(agent)
        else:
            below.setdefault(agent.start.owner, []).append(agent)
    built: dict[int, Agent] = {}

    def build(tops: Sequence[_Found]) -> tuple[Agent, ...]:
        # With a stack of our own: agents may nest deeper than Python calls may.
        stack = [(agent, False) for agent in reversed(tops) if id(agent) not in built]
        seen: set[int] = set()
        while stack:
            agent, is_ready = stack.pop()
            children = below.get(agent.agent_id, [])
            if is_ready:
                built[id(agent)] = _agent(
                    agent, tuple(built[id(child)] for child in children if id(child) in built)
                )
            elif id(agent) not in seen and id(agent) not in built:
                seen.add(id(agent))
                stack.append((agent, True))
                stack += [(child, False) for child in reversed(children) if id(child) not in seen]
        return tuple(built[id(agent)] for agent in tops)

    tops = build(below.get(None, [])) + build(loose)
    # Two that are said to have started each other hang under nothing; none is lost.
    lost = [agent for agent in found if id(agent) not in built]
    while lost:
        tops += build(lost[:1])
        lost = [agent for agent in lost if id(agent) not in built]
    return tops


def _agent(found: _Found, children: tuple[Agent, ...]) -> Agent:
    start, meta = found.start, _meta(found)
    return Agent(
        found.agent_id,
        _text(meta, "agentType") or (start.type if start else None),
        _text(meta, "description") or (start.description if start else None),
        start.call.id if start else None,
        found.evidence,
        found.source,
        found.rows,
        children,
    )


def _starts(
    session: Session, owner: str | None, inline: Sequence[_Found], calls: Iterable[Call]
) -> list[_Start]:
    """Return the calls of one file that start sub-agents."""
    owners = {row: agent.agent_id for agent in inline for row in agent.rows}
    starts: list[_Start] = []
    for call in calls:
        if not may_start(call):
            continue
        given = call_block(session, call).input
        result = as_mapping(structured(session, call))
        starts.append(
            _Start(
                call,
                owners.get(call.row, owner),
                session.table.time_of(call.row),
                call.agent_id,
                _text(given, "prompt"),
                _text(result, "agentType") or _text(given, "subagent_type"),
                _text(given, "description") or _text(result, "description"),
            )
        )
    return starts


def _progress(session: Session) -> dict[str, str]:
    """Return the call by sub-agent as the news of its progress tells it, for one that never came back."""
    table = session.table
    if _PROGRESS not in table.kinds:
        return {}
    found: dict[str, str] = {}
    for row in range(len(table)):
        if table.kind_of(row) == _PROGRESS:
            data = session.entry(row).data
            agent_id, call_id = _text(as_mapping(data.get("data")), "agentId"), _text(data, "parentToolUseID")
            if agent_id and call_id:
                found.setdefault(agent_id, call_id)
    return found


def _inline(session: Session) -> dict[str, list[int]]:
    """Return the rows of the sub-agents within a session's own file, each by its id or that of its root."""
    table = session.table
    sides = [row for row in range(len(table)) if table.flags[row] & SIDECHAIN]
    if not sides or len(sides) == sum(
        table.kind_of(row) in {"user", "assistant"} for row in range(len(table))
    ):
        return {}  # a sub-agent's own file
    name_of: dict[int, str] = {}
    groups: dict[str, list[int]] = {}
    for row in sides:
        entry = session.entry(row)
        name = entry.agent_id or name_of.get(table.parent[row]) or entry.uuid or f"line-{table.number[row]}"
        if table.uuid[row]:
            name = name_of.setdefault(table.uuid[row], name)
        groups.setdefault(name, []).append(row)
    return groups


def _in_file(session: Session, name: str, rows: Sequence[int]) -> _Found:
    prompt, time = _first_prompt(session, rows)
    return _Found(name, None, tuple(rows), prompt, time)


def _first_prompt(session: Session, rows: Iterable[int]) -> tuple[str | None, int | None]:
    """Return what a sub-agent was told and when; without that the time of its first line."""
    table = session.table
    started: int | None = None
    for row in rows:
        started = table.time_of(row) if started is None else started
        if table.kind_of(row) == "user" and not table.flags[row] & (META | COMPACT_SUMMARY):
            prompt = read(session.entry(row))
            words = prompt.words or prompt.tag("teammate-message")
            if words:
                return words, table.time_of(row)
            if prompt.kind == "tool_result":
                break
    return None, started


def _meta(agent: _Found) -> Mapping[str, Any]:
    return {} if agent.source is None else agent.source.meta


def _text(data: Mapping[str, Any], name: str) -> str | None:
    value = data.get(name)
    return value if isinstance(value, str) else None
