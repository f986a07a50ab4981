"""Bash: a command, and what it wrote on each of its two streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.format import fields, results
from clew.format.blocks import Document
from clew.view import words
from clew.view.parts import Code, Notice, Section, Text
from clew.view.texts import lines_word, one_line
from clew.view.tools import plainly
from clew.view.tools.display import Asked, Shown

if TYPE_CHECKING:
    from clew.view.parts import Part

_LONG: Final = 160


def show(asked: Asked) -> Shown:
    """Show a command and its output."""
    command = fields.string(asked.given, "command")
    if command is None:
        return Shown(plainly.first(asked), _outcome(asked), plainly.given(asked), _result(asked))
    return Shown(one_line(command), _outcome(asked), _given(asked, command), _result(asked))


def _given(asked: Asked, command: str) -> tuple[Part, ...]:
    others = plainly.given(asked, but={"command"})
    if "\n" not in command.strip() and len(command) <= _LONG:
        return others
    return (Code(command, language="bash"), *others)


def _outcome(asked: Asked) -> str:
    found = asked.structured
    failed = plainly.failure(asked)
    if failed is not None or not isinstance(found, results.Bash):
        return failed or plainly.outcome(asked)
    if found.interrupted:
        return "interrupted"
    if found.background_task_id:
        return one_line(f"in the background as {found.background_task_id}", longest=80)
    if found.is_image:
        return "a picture"
    if found.persisted_output_size:
        return words.size(found.persisted_output_size)
    text = found.stdout if not found.stderr else f"{found.stdout}\n{found.stderr}"
    return lines_word(text) if text.strip() else "no output"


def _result(asked: Asked) -> tuple[Part, ...]:
    found = asked.structured
    if not isinstance(found, results.Bash) or found.is_image:
        return plainly.told(asked)
    out, err = found.stdout, found.stderr
    made: list[Part] = []
    if out.strip():
        made.append(Code(out, stream="out"))
    if err.strip():
        made.append(Code(err, stream="err"))
    made += plainly.saved_at(found.persisted_output_path, found.persisted_output_size)
    meaning = fields.string(found.data, "returnCodeInterpretation")
    if meaning:
        made.append(Text(meaning, is_muted=True))
    return (*made, *_rest(asked, out, err))


def _rest(asked: Asked, out: str, err: str) -> tuple[Part, ...]:
    """Return what the model was told beyond the output, such as where a command in the background writes."""
    if asked.result is None:
        return ()
    if any(isinstance(block, Document) for block in asked.result.content):
        return plainly.rest(asked)
    said = asked.said.strip()
    rest = said.replace(out.strip(), "", 1).replace(err.strip(), "", 1).strip()
    if not rest:
        return ()
    if said.startswith("<persisted-output>"):
        # A part of the output again, and the file it is in, which the client noted; not always both.
        named = tuple(plainly.saved_elsewhere(said))
        is_noted = isinstance(asked.structured, results.Bash) and asked.structured.persisted_output_path
        return (*(() if is_noted else named), Section(plainly.TOLD, (Code(said),)))
    return (Notice(one_line(rest)),) if len(rest) < _LONG else (Section(plainly.TOLD, (Code(rest),)),)
