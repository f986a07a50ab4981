"""How session lines look, by client era.

Every function returns one line, or a part of one, as JSON text. Key order, envelope and usage follow what the
clients of each era write; `src/clew` has its own knowledge of this and the two are kept apart on purpose.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from bench.truth import Usage


@dataclass(frozen=True, slots=True)
class Era:
    """What a range of client versions has in common, as far as bytes and counts go."""

    version: str
    start: str
    """First day sessions of this era begin."""
    days: int
    weight: float
    """Its share of the corpus."""
    envelope: Literal["old", "new"]
    """Old clients write cwd, session and version before the message, new ones after it."""
    usage: Literal["race", "final", "start", "last"]
    """Which of a message's lines carry the final count: by luck, all, hardly any, the last."""
    results: Literal["linear", "tree", "interleaved"]
    agents: Literal["inline", "flat", "nested"]
    resume: Literal["copy", "append"]
    fork: Literal["rewritten", "mixed"]
    models: tuple[str, ...]
    progress: bool = False
    attachments: bool = False
    requests: bool = False
    snapshots: bool = True
    one_hour: float = 0.0
    """Share of sessions that write the cache for an hour."""


_SONNET, _OPUS = "claude-sonnet-4-5-20250929", "claude-opus-4-1-20250805"
_HAIKU = "claude-haiku-4-5-20251001"

ERAS = (
    Era(
        "1.0.35",
        "2025-06-02",
        80,
        1.0,
        "old",
        "race",
        "linear",
        "inline",
        "copy",
        "rewritten",
        ("claude-sonnet-4-20250514", "claude-opus-4-20250514", "claude-3-5-haiku-20241022"),
        snapshots=False,
    ),
    Era(
        "2.0.42",
        "2025-10-01",
        50,
        1.0,
        "old",
        "final",
        "linear",
        "flat",
        "append",
        "mixed",
        (_SONNET, _OPUS, _HAIKU),
        one_hour=0.1,
    ),
    Era(
        "2.0.76",
        "2025-12-01",
        40,
        1.0,
        "old",
        "race",
        "linear",
        "flat",
        "append",
        "mixed",
        (_SONNET, "claude-opus-4-5-20251101", _HAIKU),
        one_hour=0.2,
    ),
    Era(
        "2.1.29",
        "2026-01-10",
        20,
        0.8,
        "old",
        "start",
        "tree",
        "nested",
        "append",
        "mixed",
        ("claude-opus-4-5-20251101", _SONNET, _HAIKU),
        progress=True,
        one_hour=0.3,
    ),
    Era(
        "2.1.45",
        "2026-02-01",
        40,
        0.8,
        "old",
        "start",
        "tree",
        "nested",
        "append",
        "mixed",
        ("claude-opus-4-6", _SONNET, _HAIKU),
        progress=True,
        one_hour=0.3,
    ),
    Era(
        "2.1.88",
        "2026-03-20",
        40,
        0.8,
        "old",
        "last",
        "tree",
        "nested",
        "append",
        "rewritten",
        ("claude-opus-4-6", "claude-sonnet-4-6", _HAIKU),
        progress=True,
        one_hour=0.4,
    ),
    Era(
        "2.1.150",
        "2026-05-10",
        50,
        1.2,
        "new",
        "final",
        "tree",
        "nested",
        "append",
        "rewritten",
        ("claude-opus-4-6", "claude-sonnet-4-6", _HAIKU),
        attachments=True,
        one_hour=0.5,
    ),
    Era(
        "2.1.325",
        "2026-08-01",
        70,
        1.4,
        "new",
        "final",
        "interleaved",
        "nested",
        "append",
        "rewritten",
        ("claude-opus-4-6", "claude-sonnet-4-6", _HAIKU, "claude-unlisted-9-20260901"),
        attachments=True,
        requests=True,
        one_hour=0.5,
    ),
)


@dataclass(frozen=True, slots=True)
class Envelope:
    """The fields every chained line of a session repeats, before and after its own part."""

    before: str
    after: str


def envelope(
    era: Era, *, session_id: str, cwd: str, branch: str, sidechain: bool = False, agent_id: str | None = None
) -> Envelope:
    """The repeated fields in the order of the era; `cwd` comes escaped."""
    side = f'"isSidechain":{"true" if sidechain else "false"},'
    agent = f'"agentId":"{agent_id}",' if agent_id else ""
    place = f'"cwd":"{cwd}","sessionId":"{session_id}","version":"{era.version}"'
    git = "" if era.version.startswith("1.") else f',"gitBranch":"{branch}"'
    if era.envelope == "old":
        return Envelope(f'{side}"userType":"external",{place}{git},{agent}', "")
    return Envelope(f"{side}{agent}", f',"userType":"external","entrypoint":"cli",{place}{git}')


def usage_json(era: Era, usage: Usage, *, split: bool = True) -> str:
    """The usage object of a line; without `split` it is the oldest kind, which tells no lifetimes of cache
    writes.
    """
    fresh, output, read, short, long = usage
    if era.envelope == "old":
        lifetimes = (
            f'"cache_creation":{{"ephemeral_5m_input_tokens":{short},"ephemeral_1h_input_tokens":{long}}},'
            if split
            else ""
        )
        return (
            f'{{"input_tokens":{fresh},"cache_creation_input_tokens":{short + long},'
            f'"cache_read_input_tokens":{read},{lifetimes}"output_tokens":{output},"service_tier":"standard"}}'
        )
    # The inner repetition is what the newest clients write; a count that looks for the first
    # "output_tokens" anywhere in the line finds the right one only by luck.
    iterations = (
        f'{{"type":"message","input_tokens":{fresh},"output_tokens":{output},"cache_read_input_tokens":{read}}}'
        if era.requests
        else ""
    )
    return (
        f'{{"input_tokens":{fresh},"cache_creation_input_tokens":{short + long},'
        f'"cache_read_input_tokens":{read},'
        f'"output_tokens":{output},"server_tool_use":{{"web_search_requests":0,"web_fetch_requests":0}},'
        f'"service_tier":"standard","cache_creation":{{"ephemeral_1h_input_tokens":{long},'
        f'"ephemeral_5m_input_tokens":{short}}},"inference_geo":"","iterations":[{iterations}],"speed":"standard"}}'
    )


def assistant(
    env: Envelope,
    *,
    parent: str,
    message_id: str,
    model: str,
    block: str,
    stop: str,
    usage: str,
    request: str,
    uuid: str,
    time: str,
) -> str:
    """One line of an assistant message: one content block, with the usage this line carries."""
    return (
        f'{{"parentUuid":{parent},{env.before}"message":{{"id":"{message_id}","type":"message","role":"assistant",'
        f'"model":"{model}","content":[{block}],"stop_reason":{stop},"stop_sequence":null,"usage":{usage}}},'
        f'{request}"type":"assistant","uuid":"{uuid}","timestamp":"{time}"{env.after}}}'
    )


def user(env: Envelope, *, parent: str, content: str, uuid: str, time: str, extra: str = "") -> str:
    """A user line: a prompt, tool results or a compaction summary; `extra` holds further fields, each led by
    a comma.
    """
    return (
        f'{{"parentUuid":{parent},{env.before}"type":"user","message":{{"role":"user","content":{content}}},'
        f'"uuid":"{uuid}","timestamp":"{time}"{extra}{env.after}}}'
    )


def chained(env: Envelope, *, parent: str, body: str, uuid: str, time: str) -> str:
    """Any other line that hangs in the chain: progress, attachment, system."""
    return f'{{"parentUuid":{parent},{env.before}{body},"uuid":"{uuid}","timestamp":"{time}"{env.after}}}'


def api_error(env: Envelope, *, parent: str, message_id: str, text: str, uuid: str, time: str) -> str:
    """What the client writes when a request fails: a message of no model, with a usage of zeros."""
    return (
        f'{{"parentUuid":{parent},{env.before}"type":"assistant","uuid":"{uuid}","timestamp":"{time}","message":'
        f'{{"id":"{message_id}","container":null,"model":"<synthetic>","role":"assistant","stop_reason":"stop_sequence",'
        f'"stop_sequence":"","type":"message","usage":{{"input_tokens":0,"output_tokens":0,'
        f'"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"server_tool_use":{{"web_search_requests":0,'
        f'"web_fetch_requests":0}},"service_tier":null,"cache_creation":{{"ephemeral_1h_input_tokens":0,'
        f'"ephemeral_5m_input_tokens":0}}}},"content":[{{"type":"text","text":"{text}"}}]}},'
        f'"isApiErrorMessage":true{env.after}}}'
    )


def boundary(env: Envelope, *, logical_parent: str, tokens: int, uuid: str, time: str) -> str:
    """The line that starts a new root when the conversation is compacted."""
    return (
        f'{{"parentUuid":null,"logicalParentUuid":"{logical_parent}",{env.before}"type":"system",'
        f'"subtype":"compact_boundary","content":"Conversation compacted","isMeta":false,'
        f'"timestamp":"{time}","uuid":"{uuid}","level":"info","compactMetadata":{{"trigger":"auto","preTokens":{tokens}}}{env.after}}}'
    )


def snapshot(*, message: str, backups: str, time: str) -> str:
    """A file-history line: which files are backed up, not what is in them."""
    return (
        f'{{"type":"file-history-snapshot","messageId":"{message}","snapshot":{{"messageId":"{message}",'
        f'"trackedFileBackups":{{{backups}}},"timestamp":"{time}"}},"isSnapshotUpdate":false}}'
    )


def tool_input(name: str, *, path: str, first: str, second: str) -> str:
    """The input of a call; `first` is the text a person would search for, `second` fills the rest."""
    match name:
        case "Bash":
            return f'{{"command":"{first}","description":"{second}"}}'
        case "Read":
            return f'{{"file_path":"{path}/{first}","limit":400}}'
        case "Write":
            return f'{{"file_path":"{path}","content":"{first}"}}'
        case "Edit":
            return (
                f'{{"replace_all":false,"file_path":"{path}","old_string":"{second}","new_string":"{first}"}}'
            )
        case "Grep":
            return f'{{"pattern":"{first}","path":"{path}","output_mode":"content"}}'
        case _:
            return f'{{"description":"{second}","prompt":"{first}","subagent_type":"general-purpose"}}'


def tool_use_result(name: str, *, path: str, text: str, before: str) -> str:
    """The structured copy of a result that the client keeps beside the one for the model."""
    match name:
        case "Bash":
            return f'{{"stdout":"{text}","stderr":"","interrupted":false,"isImage":false}}'
        case "Read":
            return (
                f'{{"type":"text","file":{{"filePath":"{path}","content":"{text}","numLines":400,"startLine":1,'
                f'"totalLines":400}}}}'
            )
        case "Edit" | "Write":
            return (
                f'{{"filePath":"{path}","oldString":"","newString":"","originalFile":"{before}","structuredPatch":'
                f'[{{"oldStart":1,"oldLines":3,"newStart":1,"newLines":4,"lines":[" {path}"]}}],'
                f'"userModified":false}}'
            )
        case _:
            return f'{{"mode":"content","numFiles":0,"filenames":[],"content":"{text}","numLines":12}}'
