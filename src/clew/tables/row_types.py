"""The rows of the tables: plain tuples, in the order of the columns that `schema` documents.

`rows` makes them.
"""

from __future__ import annotations

from typing import NamedTuple


class SessionRow(NamedTuple):
    """One session file."""

    session_id: str
    path: str
    project: str
    folder: str
    slug: str | None
    title: str | None
    title_source: str | None
    first_prompt: str | None
    kind: str
    day: str | None
    started_ms: int | None
    ended_ms: int | None
    changed_ms: int
    bytes: int
    lines: int
    turns: int
    messages: int
    tool_calls: int
    failed_calls: int
    input_tokens: int | None
    output_tokens: int | None
    cache_read_tokens: int | None
    cache_write_5m_tokens: int | None
    cache_write_1h_tokens: int | None
    cost_usd: float | None
    unpriced_messages: int | None
    unpriced_models: str
    models: str
    git_branch: str | None
    client_versions: str
    session_ids: str
    prs: str
    agents: int
    live: bool
    damaged: int


class EntryRow(NamedTuple):
    """One record of a file."""

    session_id: str
    agent_id: str | None
    line: int
    offset: int
    length: int
    kind: str
    type: str | None
    role: str | None
    uuid: str | None
    parent_uuid: str | None
    day: str | None
    time_ms: int | None
    is_sidechain: bool
    is_meta: bool
    input_kind: str | None
    round: str | None


class MessageRow(NamedTuple):
    """One message of the model, as one file has it."""

    message_id: str
    session_id: str
    agent_id: str | None
    model: str | None
    day: str | None
    time_ms: int | None
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_5m_tokens: int
    cache_write_1h_tokens: int
    web_searches: int
    web_fetches: int
    service_tier: str | None
    speed: str | None
    inference_geo: str | None
    git_branch: str | None
    calls: str
    advisers: str
    stop_reason: str | None
    lines: int | None


class TurnRow(NamedTuple):
    """One turn."""

    session_id: str
    agent_id: str | None
    turn: int
    line: int | None
    uuid: str | None
    round: str | None
    input_kind: str | None
    prompt: str | None
    day: str | None
    started_ms: int | None
    ended_ms: int | None
    duration_ms: int | None
    is_estimated: bool
    messages: int
    calls: int
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_5m_tokens: int
    cache_write_1h_tokens: int
    cost_usd: float | None
    status: str


class CallRow(NamedTuple):
    """One call of a tool."""

    session_id: str
    agent_id: str | None
    turn: int | None
    call_id: str | None
    name: str | None
    line: int
    block: int
    uuid: str | None
    result_line: int | None
    result_uuid: str | None
    day: str | None
    time_ms: int | None
    duration_ms: int | None
    is_error: bool
    is_stand_in: bool
    subagent_id: str | None


class UsageRow(NamedTuple):
    """One message of the model, once."""

    message_id: str
    session_id: str
    project: str
    agent_id: str | None
    model: str | None
    day: str | None
    time_ms: int | None
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_5m_tokens: int
    cache_write_1h_tokens: int
    web_searches: int
    web_fetches: int
    service_tier: str | None
    cost_usd: float | None
    speed: str | None
    inference_geo: str | None
    git_branch: str | None
    calls: str
    advisers: str


class FileRow(NamedTuple):
    """One file, written by one call."""

    session_id: str
    agent_id: str | None
    path: str
    tool: str | None
    action: str | None
    added: int | None
    removed: int | None
    turn: int | None
    call_id: str | None
    line: int
    day: str | None
    time_ms: int | None
    is_error: bool


class ProblemRow(NamedTuple):
    """One problem."""

    session_id: str
    agent_id: str | None
    code: str
    severity: str
    line: int | None
    offset: int | None
    length: int | None
    detail: str
    repair: str | None
