"""A call of a tool in a few words: what it was asked, and what came of it.

A tool clew does not know is shown by its first argument and the length of its answer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from clew.faces.cli.terminal import one_line
from clew.faces.cli.words import count, size
from clew.format import fields, results
from clew.format.blocks import Document, Image, Text
from clew.format.entry import as_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clew.format.blocks import Block, ToolResult

_PATHS: Final = ("file_path", "notebook_path", "path")
_FIRST: Final = (
    "command",
    "file_path",
    "notebook_path",
    "pattern",
    "query",
    "url",
    "skill",
    "description",
    "prompt",
    "question",
    "path",
    "name",
    "id",
)
_EXIT: Final = re.compile(r"\s*(?:Error: )?Exit code (\d{1,5})\b")
_REFUSED: Final = re.compile(
    r"The user doesn't want to (?:proceed|take this action)|Permission to use|.{0,80}hasn't granted"
)
_LONGEST: Final = 2000
"""As much of an argument as is looked at; no line is that wide."""


def argument(name: str | None, given: Mapping[str, object], *, folder: str | None) -> str:
    """Return the one argument that tells most, on one line; paths are relative to the project."""
    match name:
        case "Grep":
            where = fields.string(given, "path") or fields.string(given, "glob")
            pattern = fields.string(given, "pattern") or ""
            return _short(f"{pattern}  in {relative(where, folder)}" if where else pattern)
        case "Task" | "Agent":
            kind, what = fields.string(given, "subagent_type"), fields.string(given, "description")
            return _short(": ".join(part for part in (kind, what or fields.string(given, "prompt")) if part))
        case "TodoWrite":
            return _todos(given)
        case "AskUserQuestion":
            asked = fields.mappings(given, "questions")
            return _short(fields.string(asked[0], "question") or "") if asked else ""
        case "Skill":
            skill = fields.string(given, "skill") or fields.string(given, "command") or ""
            return _short(f"{skill} {fields.string(given, 'args') or ''}".strip())
        case _:
            return _first(given, folder)


def _first(given: Mapping[str, object], folder: str | None) -> str:
    for key in _FIRST:
        value = fields.string(given, key)
        if value:
            return _short(relative(value, folder) if key in _PATHS else value)
    value = next((value for value in given.values() if isinstance(value, str) and value), None)
    if value is not None:
        return _short(value)
    return _short(", ".join(f"{key}={_plain(value)}" for key, value in list(given.items())[:4]))


def _plain(value: object) -> str:
    return "…" if isinstance(value, dict | list) else str(value)[:80]


def _todos(given: Mapping[str, object]) -> str:
    todos = fields.mappings(given, "todos")
    done = sum(fields.string(todo, "status") == "completed" for todo in todos)
    now = next((todo for todo in todos if fields.string(todo, "status") == "in_progress"), None)
    said = f"{done} of {count(len(todos), 'to-do')} done"
    words = fields.string(now, "content") if now is not None else None
    return _short(f"{said}, now: {words}" if words else said)


def relative(path: str | None, folder: str | None) -> str:
    """Return a path as seen from the project's folder, where it lies inside; of either system."""
    if not path or not folder:
        return path or ""
    for separator in ("/", "\\"):
        start = folder.rstrip(separator) + separator
        if path.startswith(start) and len(path) > len(start):
            return path[len(start) :]
    return "." if path == folder else path


def _short(text: str) -> str:
    return one_line(text[:_LONGEST])


def outcome(name: str | None, result: ToolResult | None, kept: object) -> str:
    """Return what came of a call in a word or two; empty where there is nothing to say."""
    if result is None:
        return "no result"
    said = result.text()
    if result.is_error:
        return _failure(said)
    found = results.result(name, kept)
    match found:
        case results.Bash():
            return _command(found)
        case results.Read():
            return _read(found)
        case results.Write() if found.action == "create" or not found.hunks:
            return f"{'new, ' if found.action == 'create' else ''}{_lines(found.content or '')}"
        case results.Change():
            added = sum(line.startswith("+") for hunk in found.hunks for line in hunk.lines)
            removed = sum(line.startswith("-") for hunk in found.hunks for line in hunk.lines)
            return f"+{added} −{removed}" if found.hunks else ""
        case results.Grep() if found.mode == "content":
            return count(found.num_lines or len((found.content or "").splitlines()), "line")
        case results.Glob():
            number = len(found.filenames) if found.num_files is None else found.num_files
            return count(number, "file") + (" and more" if found.truncated else "")
        case results.Agent() | results.Todos():
            return ""
        case _:
            return _answer(result.content, said)


def _failure(said: str) -> str:
    code = _EXIT.match(said)
    if code:
        return f"exit {code[1]}"
    return "refused" if _REFUSED.match(said) else "failed"


def _command(found: results.Bash) -> str:
    if found.interrupted:
        return "interrupted"
    if found.background_task_id:
        return f"in the background as {_short(found.background_task_id)}"
    if found.is_image:
        return "a picture"
    if found.persisted_output_size:
        return size(found.persisted_output_size)
    text = found.stdout if not found.stderr else f"{found.stdout}\n{found.stderr}"
    return _lines(text) if text.strip() else "no output"


def _read(found: results.Read) -> str:
    if found.type == "image":
        pixels = found.size
        return f"image {pixels[0]} × {pixels[1]}" if pixels else "image"
    if found.num_lines is not None:
        of = f" of {found.total_lines:,}" if (found.total_lines or 0) > found.num_lines else ""
        return f"{found.num_lines:,}{of} line{'s' if of or found.num_lines != 1 else ''}"
    return _lines(found.content) if found.content else found.type or ""


def _answer(content: tuple[Block, ...], said: str) -> str:
    pictures = [picture(block) for block in content if isinstance(block, Document)]
    if pictures:
        return ", ".join(pictures[:3])
    return _lines(said) if said.strip() else ""


def _lines(text: str) -> str:
    return count(text.count("\n") + (not text.endswith("\n")), "line") if text else "0 lines"


def picture(block: Document) -> str:
    """Name a picture or a document: what it is and how large."""
    facts: list[str] = []
    pixels = block.size if isinstance(block, Image) else None
    if pixels is not None:
        facts.append(f"{pixels[0]} × {pixels[1]}")
    if block.byte_size is not None:
        facts.append(size(block.byte_size))
    kind = (block.media_type or ("image" if isinstance(block, Image) else "document")).rpartition("/")[2]
    what = "image" if isinstance(block, Image) else "document"
    return one_line(f"{what} ({', '.join([kind[:40], *facts])})")


def result_text(result: ToolResult | None) -> str:
    """Return what a call gave back as text; pictures by name, what is unknown by its type."""
    if result is None:
        return ""
    said: list[str] = []
    for block in result.content:
        if isinstance(block, Text):
            said.append(block.text)
        elif isinstance(block, Document):
            said.append(f"[{picture(block)}]")
        else:
            said.append(f"[{one_line(str(as_mapping(block.raw).get('type') or 'block'))[:80]}]")
    return "\n".join(said)
