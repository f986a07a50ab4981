"""The recorded sessions, and how they are told in a few words so that a person can check them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clew.format.lines import BytesSource
from clew.session import prompts, subagents
from clew.session.calls import pairs
from clew.session.files import files
from clew.session.fold import Facts, Summary, fold
from clew.session.messages import blocks_of
from clew.session.rounds import inputs
from clew.session.session import Session
from clew.session.turns import turns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from clew.session.calls import Call
    from clew.session.subagents import Agent
    from clew.session.turns import Turn

CORPUS = Path(__file__).parent.parent / "data" / "corpus"
SCENARIOS = sorted(path.parent for path in CORPUS.glob("*/*/projects"))
"""One folder for each version and scenario."""


def read(path: Path) -> Session:
    return Session.read(path.read_bytes(), name=path.stem)


def facts(path: Path) -> Facts:
    summary = Summary()
    return summary.result(fold(BytesSource(path.read_bytes()), summary))


def agent_sources(folder: Path, session: Session) -> list[subagents.Source]:
    """The files of a session's sub-agents, in every layout there has been."""
    found: list[subagents.Source] = []
    for path in sorted(folder.rglob("agent-*.jsonl")):
        agent = read(path)
        ids = {agent.entry(row).session_id for row in range(len(agent))}
        if session.name in ids:
            meta = path.with_suffix(".meta.json")
            known: dict[str, Any] = json.loads(meta.read_bytes()) if meta.exists() else {}
            found.append(subagents.Source(path.stem.removeprefix("agent-"), agent, path.name, known))
    return found


def tell(scenario: Path) -> str:
    """Tell every session of a scenario, then every file of a sub-agent."""
    told: list[str] = []
    for path in sorted(scenario.glob("projects/*/*.jsonl")):
        if not path.name.startswith("agent-"):
            told += [*_session(path), ""]
    for path in sorted(scenario.glob("projects/**/agent-*.jsonl")):
        told += [f"{path.name}: {facts(path).lines} lines", *_conversation(read(path)), ""]
    return "\n".join(told)


def _session(path: Path) -> Iterator[str]:
    session = read(path)
    known = facts(path)
    yield f"{path.name}: {known.kind}, {known.lines} lines, {known.turns} turns, {known.messages} messages"
    yield f"  title {known.title!r} by {known.title_source}"
    yield from _conversation(session)
    for agent in subagents.agents(session, agent_sources(path.parent, session)):
        yield from _agent(agent, "  ")
    for file in files(session):
        copies = f", copied at {_lines(session, file.snapshot_rows)}" if file.snapshot_rows else ""
        written = (
            ", ".join(f"{call.name} {session.table.number[call.row]}" for call in file.calls) or "no call"
        )
        yield f"  file {file.path.rpartition('/')[2]}: {written}{copies}"


def _conversation(session: Session) -> Iterator[str]:
    told = turns(session)
    for turn in told:
        yield from _turn(session, turn)
    spoken = [
        f"{session.table.number[i.row]} {i.kind} {i.round}"
        for i in inputs(session)
        if i.kind != "tool_result"
    ]
    yield "  inputs: " + "; ".join(spoken)
    paired = pairs(session)
    in_turns = {(call.row, call.index) for turn in told for call in turn.calls}
    if beside := [call for call in paired.calls if (call.row, call.index) not in in_turns]:
        yield "  calls beside the turns: " + ", ".join(_call(session, call) for call in beside)
    for name in ("unpaired_calls", "unpaired_results", "duplicate_calls", "duplicate_results"):
        if found := getattr(paired, name):
            yield f"  {name}: " + ", ".join(
                f"{each.id} line {session.table.number[each.row]}" for each in found
            )


def _turn(session: Session, turn: Turn) -> Iterator[str]:
    yield (
        f"  turn {turn.n}: {turn.round}, {turn.input_kind}, {turn.status}, "
        f"{turn.duration_ms} ms{' estimated' * turn.is_estimated}, lines {_lines(session, turn.rows)}"
    )
    if turn.prompt_row is not None:
        prompt = prompts.read(session.entry(turn.prompt_row))
        tags = "".join(f" <{tag.name}>" for tag in prompt.tags)
        yield f"    > {prompt.words[:90]!r}{tags}{f' +{prompt.images} image' if prompt.images else ''}"
    for message in turn.messages:
        kinds = " ".join(block.type or "?" for _, block in blocks_of(session, message))
        marks = " synthetic" * message.is_synthetic + " api-error" * message.is_api_error
        yield f"    {_lines(session, message.rows)}: {kinds} ({message.stop_reason}){marks}"
    for call in turn.calls:
        yield f"      {_call(session, call)}"


def _call(session: Session, call: Call) -> str:
    number = session.table.number
    if call.result_row is None:
        return f"{call.name} {number[call.row]} -> none"
    told = f"{call.name} {number[call.row]} -> {number[call.result_row]}"
    return told + " failed" * call.is_error + (f" agent {call.agent_id}" if call.agent_id else "")


def _agent(agent: Agent, indent: str) -> Iterator[str]:
    where = agent.source.key if agent.source else f"{len(agent.rows)} rows inline"
    yield (
        f"{indent}agent {agent.agent_id}: {agent.type} {agent.description!r} in {where}, "
        f"started by {agent.started_by} ({agent.evidence})"
    )
    for child in agent.children:
        yield from _agent(child, indent + "  ")


def _lines(session: Session, rows: Iterable[int]) -> str:
    numbers = [session.table.number[row] for row in rows]
    if len(numbers) > 2 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"{numbers[0]}-{numbers[-1]}"
    return ",".join(map(str, numbers))
