"""The lines of a session that are neither prompt nor answer, in a few words each."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from clew.faces.cli import words
from clew.format import fields
from clew.session.prompts import read

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clew.format.entry import Entry
    from clew.format.records import Fragment

ROW_NOTES: Final = frozenset(
    {
        "system/compact_boundary",
        "system/local_command",
        "system/api_error",
        "system/informational",
        "pr-link",
        "summary",
    }
)
"""The kinds of lines, beside those under the user's role, that a reader wants to see."""

QUEUED: Final = frozenset(
    {
        "attachment/queued_command",
        "queue-operation/enqueue",
        "queue-operation/dequeue",
        "queue-operation/remove",
    }
)
_SUMMARY: Final = re.compile(r"<summary>(.{1,2000}?)</summary>", re.DOTALL)
_TAG: Final = re.compile(r"</?[a-z-]{1,40}>")
_DAMAGE: Final[Mapping[str, str]] = {
    "torn": "cut off mid-record",
    "spliced": "a torn record with another one behind it",
    "nul": "a run of NULs",
    "garbage": "bytes that are no record",
    "not-a-record": "JSON, but no record",
    "too-deep": "nested too deep",
    "too-long": "too long to be read",
}


def note_of(entry: Entry, kind: str) -> tuple[str, str] | None:
    """Return what a line says as a heading and a text below it; None for what a reader need not see.

    A heading that starts with two dashes is a rule across the screen.
    """
    match kind:
        case "user":
            return _under_user(entry)
        case "system/compact_boundary":
            return _compaction(entry), ""
        case "system/local_command":
            return _under_user(entry)
        case "system/api_error" | "system/informational":
            said = entry.text("content") or entry.text("message") or _error(entry)
            return f"· {kind.partition('/')[2].replace('_', ' ')}: {said}", ""
        case "pr-link":
            url = entry.text("prUrl") or entry.text("url") or ""
            number = entry.data.get("prNumber")
            return f"· pull request {f'#{number} ' if number is not None else ''}{url}", ""
        case "summary":
            return f"· summary: {entry.text('summary') or ''}", ""
        case _:
            return None


def _error(entry: Entry) -> str:
    error = entry.mapping("error")
    return fields.string(error, "message") or fields.string(error, "type") or ""


def _compaction(entry: Entry) -> str:
    metadata = entry.mapping("compactMetadata")
    trigger, tokens = fields.string(metadata, "trigger"), fields.integer(metadata, "preTokens")
    facts = [f"({trigger})" if trigger else "", f"· {words.tokens(tokens)} tokens before" if tokens else ""]
    return " ".join(["──compacted", *(fact for fact in facts if fact)])


def _under_user(entry: Entry) -> tuple[str, str] | None:
    prompt = read(entry)
    match prompt.kind:
        case "local_command":
            return f"$ {prompt.words}", prompt.output or ""
        case "command_output" | "bash_output":
            said = prompt.output or ""
            return ("", said) if said.strip() else None
        case "bash_input":
            return f"$ !{prompt.words}", ""
        case "memory":
            return f"# {prompt.words}", ""
        case "interrupt":
            return f"! {prompt.tag('interrupt') or 'interrupted'}", ""
        case "task_notification":
            return f"· {_news(' '.join(tag.text for tag in prompt.tags))}", ""
        case "agent_message":
            return "· a message from another agent", "\n".join(tag.text for tag in prompt.tags)
        case "compact_summary":
            return "· summary of what came before", _words(entry)
        case "skill":
            return f"· skill {prompt.command.name if prompt.command else ''}", ""
        case _:
            return None


def queued(entry: Entry) -> tuple[str, bool] | None:
    """Return the words that a queued command or queue operation carries, and whether a person typed them."""
    kept = entry.mapping("attachment")
    said = fields.string(kept, "prompt") if kept else entry.text("content")
    if not said:
        return None
    mode = fields.string(kept, "commandMode")
    is_news = said.lstrip().startswith("<task-notification") or mode not in {None, "prompt"}
    return (_news(said), False) if is_news else (said, True)


def _news(text: str) -> str:
    """Return what the news of a background task says in a line."""
    summary = _SUMMARY.search(text)
    return f"news of a background task: {summary[1] if summary else _TAG.sub(' ', text[:2000])}"


def _words(entry: Entry) -> str:
    from clew.format.blocks import blocks, text_of

    return text_of(blocks(entry.content))


def damage_notice(run: Sequence[Fragment]) -> str:
    """Say what could not be read, in one line for a run of fragments."""
    first, last = run[0].number, run[-1].number
    length = words.size(sum(one.length for one in run))
    why = _DAMAGE.get(run[0].damage, "damaged")
    if first == last:
        return f"{length} could not be read (line {first:,}, byte {run[0].offset:,}): {why}"
    lines = words.count(last - first + 1, "line")
    return f"{lines} could not be read (lines {first:,}–{last:,}, {length}): {why}"
