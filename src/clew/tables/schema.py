"""The tables: their names, columns and what each column says. One schema for SQLite, Parquet and Spark.

Ids are text. Times are milliseconds since 1970 in UTC (`…_ms`), with the day beside them as `2026-03-04`. A
list is JSON text. What is not known is null. `docs/tables.md` is made from here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

VERSION: Final = 1
"""Goes up when a column is added, taken away or comes to mean something else."""

Type = Literal["text", "integer", "real", "boolean"]


class Column(NamedTuple):
    """One column."""

    name: str
    type: Type
    doc: str


class Table(NamedTuple):
    """One table."""

    name: str
    doc: str
    columns: tuple[Column, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(column.name for column in self.columns)


def _text(name: str, doc: str) -> Column:
    return Column(name, "text", doc)


def _integer(name: str, doc: str) -> Column:
    return Column(name, "integer", doc)


def _boolean(name: str, doc: str) -> Column:
    return Column(name, "boolean", doc)


def _dollars(doc: str) -> Column:
    return Column("cost_usd", "real", doc)


_SESSION: Final = _text("session_id", "the session: the name of its file")
_AGENT: Final = _text(
    "agent_id", "the sub-agent; null for the session itself, `sidechain` where nothing names it"
)
_DAY: Final = _text("day", "the day of it, in UTC")
_LINE: Final = _integer("line", "the line, from 1")
_UUID: Final = _text("uuid", "the id of the line")

_TOKENS: Final = (
    _integer("input_tokens", "tokens of the prompt that the cache did not serve"),
    _integer("output_tokens", "tokens of the answer"),
    _integer("cache_read_tokens", "tokens of the prompt that the cache served"),
    _integer("cache_write_5m_tokens", "tokens written to the cache for 5 minutes"),
    _integer("cache_write_1h_tokens", "tokens written to the cache for 1 hour"),
)

_SEARCHES: Final = (
    _integer("web_searches", "web searches by the API's own tool"),
    _integer("web_fetches", "web pages fetched by the API's own tool"),
    _text("service_tier", "the tier it was served by"),
)

_BESIDE: Final = (
    _text("speed", "`fast` where that was paid for"),
    _text("inference_geo", "where it was computed, if that was asked for"),
    _text("git_branch", "the branch that was checked out"),
    _text("calls", "the tools it called, one name for each call (list)"),
    _text(
        "advisers", "other models asked on the way, each with its own tokens, which are in no column (list)"
    ),
)

_SESSIONS: Final = Table(
    "sessions",
    "One row for each session file, the files of sub-agents left out: what `clew ls` shows.",
    (
        _SESSION,
        _text("path", "the file"),
        _text("project", "the folder it worked in; the name of its project folder where no line tells"),
        _text("folder", "the name of its project folder"),
        _text("slug", "its readable name"),
        _text("title", "what it is called, on one line"),
        _text("title_source", "who says so: `custom`, `ai`, `agent`, `summary`, `prompt`"),
        _text("first_prompt", "what was asked first, where long only the beginning"),
        _text("kind", "`conversation`, `mixed`, `summary`, `agent`, `empty`"),
        _text("day", "the day it began, in UTC"),
        _integer("started_ms", "when the first of its messages was written"),
        _integer("ended_ms", "when the last of its messages was written"),
        _integer("changed_ms", "when the file was written last"),
        _integer("bytes", "the size of the file"),
        _integer("lines", "the lines of the file"),
        _integer("turns", "prompts that went to the model, and one more for answers before any"),
        _integer("messages", "answers, the client's own too; sub-agents in files of their own left out"),
        _integer("tool_calls", "calls of tools"),
        _integer("failed_calls", "calls whose result is an error"),
        *_TOKENS,
        _dollars("what the messages with a known price cost, sub-agents included; null when none has one"),
        _integer("unpriced_messages", "messages without a known price"),
        _text("unpriced_models", "models without a known price (list)"),
        _text("models", "the models, the one most used first (list)"),
        _text("git_branch", "the branch that was checked out last"),
        _text("client_versions", "the versions of the client that wrote it (list)"),
        _text("session_ids", "the session ids inside, the one on most lines first (list)"),
        _text("prs", "pull requests: number, url, repository (list)"),
        _integer("agents", "sub-agents with files of their own"),
        _boolean("live", "whether somebody may be writing it now; null where that is not known"),
        _integer("damaged", "lines that are not exactly one record"),
    ),
)

_ENTRIES: Final = Table(
    "entries",
    "One row for each record of every file, sub-agents included, in the order of the file.",
    (
        _SESSION,
        _AGENT,
        _LINE,
        _integer("offset", "where the record starts in its file, in bytes"),
        _integer("length", "its bytes, without the end of the line"),
        _text("kind", "its type with its subtype, such as `system/compact_boundary`"),
        _text("type", "its type; where there is none, the role of its message"),
        _text("role", "`user` or `assistant` for the conversation, else null"),
        _UUID,
        _text("parent_uuid", "the id of the line it follows"),
        _DAY,
        _integer("time_ms", "when it was written"),
        _boolean("is_sidechain", "whether it says of itself that it is a sub-agent's"),
        _boolean("is_meta", "whether the client put it in, not a person"),
        _text("input_kind", "of a user entry: `text`, `slash_command`, `tool_result`, `interrupt`, …"),
        _text("round", "of a user entry: `new_session`, `new_round`, `resume`, `continue`"),
    ),
)

_MESSAGES: Final = Table(
    "messages",
    "One row for each message of the model in each file. A message that several files hold, as after a fork, "
    "has several rows here and one in `usage`. What the client wrote in the model's place is not here.",
    (
        _text("message_id", "the API's id; else `request …` or `line …` with what stands for it"),
        _SESSION,
        _AGENT,
        _text("model", "the model that answered"),
        _DAY,
        _integer("time_ms", "when its first line was written"),
        *_TOKENS,
        *_SEARCHES,
        *_BESIDE,
        _text("stop_reason", "why it ended, by the last line that says so"),
        _integer("lines", "how many lines it was streamed to"),
    ),
)

_TURNS: Final = Table(
    "turns",
    "One row for each turn of each file: what a person asked, and what came of it until they asked again.",
    (
        _SESSION,
        _text("agent_id", "the sub-agent, in its own file"),
        _integer("turn", "its number, from 1; 0 for answers before any prompt"),
        _integer("line", "the line of the prompt"),
        _text("uuid", "the id of the prompt"),
        _text("round", "`new_session`, `new_round`, `resume` (after a pause)"),
        _text("input_kind", "`text`, `pasted_text`, `image`, `slash_command`, …"),
        _text("prompt", "the person's own words, where long only the beginning"),
        _text("day", "the day it began, in UTC"),
        _integer("started_ms", "when it was asked"),
        _integer("ended_ms", "when the last answer or result came"),
        _integer("duration_ms", "how long it took: as the client measured, else from its lines"),
        _boolean("is_estimated", "whether times were missing or ran backwards"),
        _integer("messages", "answers in it"),
        _integer("calls", "calls of tools in it"),
        *_TOKENS,
        _dollars("what it cost, without its sub-agents; null when a price is not known"),
        _text("status", "`complete`, `incomplete`, `interrupted`, `cut`, `error`"),
    ),
)

_CALLS: Final = Table(
    "calls",
    "One row for each call of a tool, with where its result is.",
    (
        _SESSION,
        _AGENT,
        _integer("turn", "the turn it belongs to; null for one beside the turns"),
        _text("call_id", "the id that its result refers to"),
        _text("name", "the tool"),
        _LINE,
        _integer("block", "which of the line's blocks it is, from 0"),
        _UUID,
        _integer("result_line", "the line of the result; null when there is none"),
        _text("result_uuid", "the id of that line"),
        _DAY,
        _integer("time_ms", "when it was called"),
        _integer("duration_ms", "from the line of the call to that of its result"),
        _boolean("is_error", "whether it failed"),
        _boolean("is_stand_in", "whether the client made the result up when the session was resumed"),
        _text("subagent_id", "the sub-agent that the result names"),
    ),
)

_USAGE: Final = Table(
    "usage",
    "One row for each message of the model, however many files hold it: what was paid for. It belongs to the "
    "session whose oldest line is oldest.",
    (
        _text("message_id", "as in `messages`"),
        _SESSION,
        _text("project", "the folder that session worked in"),
        _AGENT,
        _text("model", "the model that answered"),
        _DAY,
        _integer("time_ms", "when its first line was written"),
        *_TOKENS,
        *_SEARCHES,
        _dollars("what it cost, its advisers included; null when a price is not known"),
        *_BESIDE,
    ),
)

_FILES: Final = Table(
    "files",
    "One row for each call that wrote a file, or tried to. A file that no call wrote, but that the "
    "client kept a copy of, has one row without a tool.",
    (
        _SESSION,
        _AGENT,
        _text("path", "the file, absolute where that can be told"),
        _text("tool", "the tool"),
        _text("action", "`create`, `edit`, `overwrite`, `backup`; null when nothing was written"),
        _integer("added", "lines that came in"),
        _integer("removed", "lines that went out"),
        _integer("turn", "the turn it belongs to"),
        _text("call_id", "the call"),
        _LINE,
        _DAY,
        _integer("time_ms", "when it was written"),
        _boolean("is_error", "whether it failed"),
    ),
)

_PROBLEMS: Final = Table(
    "problems",
    "One row for each problem that `clew check` lists.",
    (
        _SESSION,
        _text("agent_id", "the sub-agent, in its own file"),
        _text("code", "what is wrong, in a word that does not change"),
        _text("severity", "`info`, `warning`, `error`"),
        _integer("line", "the line, from 1; null for what concerns the whole file"),
        _integer("offset", "where the bytes start"),
        _integer("length", "how many there are"),
        _text("detail", "what is wrong, in words"),
        _text("repair", "how `clew repair` would mend it; null where nothing can or need be done"),
    ),
)

TABLES: Final[Mapping[str, Table]] = {
    table.name: table for table in (_SESSIONS, _ENTRIES, _MESSAGES, _TURNS, _CALLS, _USAGE, _FILES, _PROBLEMS)
}
"""The tables by name, in the order they are documented in."""
