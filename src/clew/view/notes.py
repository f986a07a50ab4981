"""The lines of a session that are neither prompt nor answer nor call: as notes and rules."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from clew.format import fields, results
from clew.format.blocks import Text, blocks, text_of
from clew.session.prompts import Prompt, read
from clew.view import words
from clew.view.languages import language_of
from clew.view.parts import Code, Markdown, Note, Part, Rule, Section
from clew.view.parts import Text as Words
from clew.view.prompts import added, handed_over, left_over
from clew.view.texts import one_line, pretty

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clew.format.entry import Entry
    from clew.session.session import Session

SAID: Final = frozenset(
    {"system/local_command", "system/api_error", "system/informational", "pr-link", "summary"}
)
"""The kinds of lines, beside those under the user's role, that a reader wants to see."""

SUMMARY: Final = "summary of what came before"
PRINTED: Final = "printed"

_SUMMARY: Final = re.compile(r"<summary>(.{1,2000}?)</summary>", re.DOTALL)
_TAG: Final = re.compile(r"</?[a-z-]{1,40}>")
_LONG: Final = 200
_QUIET: Final = frozenset(
    {
        "attachment/queued_command",
        "system/compact_boundary",
        "system/turn_duration",
    }
)


def under_user(session: Session, row: int) -> Note | Rule | None:
    """Return what came under the user's role and is no prompt: local commands, interruptions, news."""
    entry = session.entry(row)
    said = read(entry)
    time = session.table.time_of(row)
    beside = tuple(handed_over(entry))
    if said.kind == "interrupt":
        text = said.tag("interrupt") or "interrupted"
        return Rule(one_line(text.strip().strip("[]")), "interrupt", uuid=entry.uuid, parts=beside)
    made = _input(entry, said)
    if made is None and not beside:
        return None
    text, inner, is_meta = made or ("added by the client", (), True)
    return Note(text, (*inner, *beside), uuid=entry.uuid, time=time, is_meta=is_meta)


def _input(entry: Entry, said: Prompt) -> tuple[str, tuple[Part, ...], bool] | None:
    """Return the words, the parts, and whether it was meant for the model alone."""
    match said.kind:
        case "local_command":
            return said.words, (*_tagged(entry, said), *_output(said), *left_over(entry, said)), False
        case "command_output" | "bash_output":
            printed = (*_output(said), *left_over(entry, said))
            return (PRINTED, printed, False) if printed else None
        case "bash_input":
            return f"!{said.words}", tuple(left_over(entry, said)), False
        case "memory":
            return f"# {said.words}", tuple(left_over(entry, said)), False
        case "task_notification":
            news = " ".join(tag.text for tag in said.tags)
            return news_words(news), as_it_came(*_spoken(entry)), False
        case "agent_message":
            return "a message from another agent", (*_all_tags(said), *left_over(entry, said)), False
        case "compact_summary":
            return SUMMARY, (Markdown(text_of(blocks(entry.content))),), False
        case "skill":
            name = said.command.name if said.command else ""
            return (
                f"skill {one_line(name, longest=100)}".rstrip(),
                (*added(entry), *left_over(entry, said)),
                False,
            )
        case "caveat":
            return "caveat", _spoken(entry), True
        case _:
            spoken = _spoken(entry)
            return ("added by the client", spoken, True) if spoken else None


def _output(said: Prompt) -> tuple[Part, ...]:
    """Return what a command printed, on which of its streams."""
    return tuple(
        Code(tag.text.strip("\n"), stream="err" if tag.name.endswith("stderr") else "out")
        for tag in said.tags
        if tag.name.endswith(("-stdout", "-stderr")) and tag.text.strip()
    )


def _tagged(entry: Entry, said: Prompt) -> tuple[Part, ...]:
    printed = {tag.name for tag in said.tags if tag.name.endswith(("-stdout", "-stderr"))}
    return tuple(one for one in added(entry) if not isinstance(one, Section) or one.title not in printed)


def _all_tags(said: Prompt) -> tuple[Part, ...]:
    return tuple(Words(tag.text.strip("\n"), is_muted=True) for tag in said.tags if tag.text.strip())


def _spoken(entry: Entry) -> tuple[Part, ...]:
    """Return all words of an entry as they stand there, tags included."""
    return tuple(
        Words(block.text, is_muted=True)
        for block in blocks(entry.content)
        if isinstance(block, Text) and block.text.strip()
    )


def beside(session: Session, row: int, kind: str) -> Note | Rule | None:
    """Return what a line of another kind says; None for those that say nothing of the conversation."""
    entry = session.entry(row)
    time = session.table.time_of(row)
    match kind:
        case "system/compact_boundary":
            return compaction(entry)
        case "system/local_command":
            return under_user(session, row)
        case "system/api_error" | "system/informational":
            said = entry.text("content") or entry.text("message") or _error(entry)
            return Note(one_line(f"{_name(kind)}: {said}"), _rest(said), uuid=entry.uuid, time=time)
        case "system/stop_hook_summary":
            return _hooks(entry, time)
        case "pr-link":
            url = entry.text("prUrl") or entry.text("url") or ""
            number = entry.data.get("prNumber")
            return Note(one_line(f"pull request {f'#{number} ' if number is not None else ''}{url}"))
        case "summary":
            return Note(one_line(f"summary: {entry.text('summary') or ''}"))
        case "progress/hook_progress":
            data = entry.mapping("data")
            name, command = fields.string(data, "hookName"), fields.string(data, "command")
            said = ": ".join(part for part in (name or fields.string(data, "hookEvent"), command) if part)
            return Note(one_line(f"hook {said}"), uuid=entry.uuid, time=time, is_meta=True)
        case _ if kind.startswith("attachment/") and kind not in _QUIET:
            return _attachment(entry, kind, time)
        case _ if kind.startswith("system/") and kind not in _QUIET:
            said = entry.text("content") or ""
            return (
                Note(one_line(f"{_name(kind)}: {said}"), _rest(said), uuid=entry.uuid, time=time)
                if said
                else None
            )
        case _:
            return None


def _name(kind: str) -> str:
    return one_line(kind.partition("/")[2].replace("_", " "), longest=80)


def _rest(said: str) -> tuple[Part, ...]:
    """Return the whole of what does not fit on a line."""
    is_long = "\n" in said.strip() or len(said) > _LONG
    return as_it_came(Words(said, is_muted=True)) if is_long else ()


def as_it_came(*parts: Part) -> tuple[Part, ...]:
    """Return the whole of what a note says in a few words, folded."""
    return (Section("as it came", parts),) if parts else ()


def _error(entry: Entry) -> str:
    error = entry.mapping("error")
    return fields.string(error, "message") or fields.string(error, "type") or ""


def compaction(entry: Entry) -> Rule:
    """Return the rule where the client cut what the model sees."""
    metadata = entry.mapping("compactMetadata")
    trigger = fields.string(metadata, "trigger")
    before, after = fields.integer(metadata, "preTokens"), fields.integer(metadata, "postTokens")
    said = f"compacted ({one_line(trigger, longest=40)})" if trigger else "compacted"
    if before and after:
        said += f" · {words.tokens(before)} → {words.tokens(after)} tokens"
    elif before:
        said += f" · {words.tokens(before)} tokens before"
    return Rule(said, "compaction", uuid=entry.uuid)


def _hooks(entry: Entry, time: int | None) -> Note | None:
    data: Mapping[str, object] = entry.data
    errors = [one if isinstance(one, str) else pretty(one) for one in fields.items(data, "hookErrors") or ()]
    infos = fields.mappings(data, "hookInfos")
    commands = [fields.string(one, "command") or "" for one in infos]
    number = fields.integer(data, "hookCount")
    said = words.count(len(infos) if number is None else number, "hook") + " ran at the end of the turn"
    if fields.flag(data, "preventedContinuation"):
        said += ", and stopped it" + (f": {reason}" if (reason := fields.string(data, "stopReason")) else "")
    parts: list[Part] = [Words(command, is_muted=True) for command in commands if command]
    parts += [Code(error, stream="err") for error in errors]
    if errors:
        said += f", {words.count(len(errors), 'error')}"
    return Note(one_line(said), tuple(parts), uuid=entry.uuid, time=time, is_meta=not errors)


def _attachment(entry: Entry, kind: str, time: int | None) -> Note | None:
    """Return what the client handed the model beside the conversation."""
    kept = entry.mapping("attachment")
    name = _name(kind)
    if kind == "attachment/file":
        path = fields.string(kept, "displayPath") or fields.string(kept, "filename") or ""
        return Note(
            one_line(f"file {path}"),
            (Section(path or "file", (_file(kept, path),)),),
            uuid=entry.uuid,
            time=time,
        )
    if kind.startswith("attachment/hook_"):
        hook = fields.string(kept, "hookName") or fields.string(kept, "hookEvent") or ""
        said = (
            fields.string(kept, "content") or fields.string(kept, "stdout") or fields.string(kept, "stderr")
        )
        is_error = "error" in kind
        inner = (Code(said, stream="err" if is_error else "out"),) if said and said.strip() else ()
        return Note(one_line(f"{name} {hook}"), inner, uuid=entry.uuid, time=time, is_meta=not is_error)
    plain = {key for key in kept if key not in {"type", "content", "text"}}
    said = fields.string(kept, "content") or fields.string(kept, "text")
    inner = Words(said, is_muted=True) if said and not plain else _as_json(kept)
    return Note(f"told to the model: {name}", (inner,), uuid=entry.uuid, time=time, is_meta=True)


def _file(kept: Mapping[str, object], path: str) -> Part:
    """Return a file that was handed to the model, in the shape that Read gives one."""
    found = results.Read(kept.get("content"))
    text = found.content if found.content is not None else fields.string(kept, "content")
    if text is None:
        return _as_json(kept)
    return Code(text, language=language_of(path), path=path or None, first_line=found.start_line)


def _as_json(value: Mapping[str, object]) -> Part:
    return Code(pretty(value), language="json")


def news_words(text: str) -> str:
    """Return what the news of a background task says in a line."""
    summary = _SUMMARY.search(text)
    return one_line(f"news of a background task: {summary[1] if summary else _TAG.sub(' ', text[:2000])}")
