"""What a person said as a part: their words, what they handed over, what their client added."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from clew.format.blocks import Document, Text, block, blocks
from clew.format.fields import as_items
from clew.session.prompts import Prompt, read
from clew.view import parts
from clew.view.pictures import picture
from clew.view.texts import one_line
from clew.view.tools.plainly import unknown_block

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clew.format.entry import Entry
    from clew.session.session import Session

_TAG: Final = re.compile(r"</?[a-z][a-z_-]{0,40}(?:\s[^<>]{0,500})?>")
_IN_WORDS: Final = frozenset({"command-name", "command-args", "bash-input", "user-memory-input"})
"""Tags whose text is among the person's words already."""

_ADDED: Final = {
    "ide_selection": "selection",
    "ide_opened_file": "opened file",
    "ide_diagnostics": "diagnostics",
}


def prompt_part(session: Session, row: int) -> parts.Prompt:
    """Return the prompt that stands in a row."""
    entry = session.entry(row)
    said = read(entry)
    rest = left_over(entry, said) if said.command is not None else ()
    return parts.Prompt(
        (*words_of(said.words), *added(entry), *rest, *handed_over(entry)),
        uuid=entry.uuid,
        time=session.table.time_of(row),
        input_kind=said.kind,
    )


def words_of(words: str) -> tuple[parts.Part, ...]:
    """Return the part for words, if there are any."""
    return (parts.Text(words),) if words.strip() else ()


def added(entry: Entry) -> Iterator[parts.Part]:
    """Give what the client put in beside the person's words, each under its name."""
    said = read(entry)
    name = said.command.name if said.command is not None else None
    for tag in said.tags:
        if tag.name in _IN_WORDS or not tag.text.strip():
            continue
        if tag.name == "command-message" and tag.text.strip().lstrip("/") == (name or "").lstrip("/"):
            continue
        title = _ADDED.get(tag.name, tag.name)
        yield parts.Section(title, (parts.Text(tag.text.strip("\n"), is_muted=True),))


def left_over(entry: Entry, said: Prompt) -> Iterator[parts.Part]:
    """Give the words behind the tags of an entry that is taken for what its tags say."""
    for one in blocks(entry.content):
        if not isinstance(one, Text):
            continue
        rest = one.text
        for tag in said.tags:
            rest = rest.replace(tag.text, "", 1) if tag.text else rest
        rest = _TAG.sub("", rest).strip()
        if rest:
            yield parts.Text(rest, is_muted=True)


def handed_over(entry: Entry) -> Iterator[parts.Part]:
    """Give the pictures and documents of an entry, and the blocks nobody knows."""
    content = entry.content
    if isinstance(content, str):
        return
    items = as_items(content)
    for one in map(block, items) if items is not None else blocks(content):
        if isinstance(one, Document):
            yield picture(one)
        elif not isinstance(one, Text) and one.type != "tool_result":
            yield unknown_block(one)
        elif isinstance(one, Text) and items is None and one.text:
            # A bare block in place of a list: no client writes one, and nobody takes it for words.
            yield parts.Text(one.text)


def title_of(session: Session, row: int | None) -> str:
    """Return the first words of a prompt on one line; what it holds where it has none."""
    if row is None:
        return ""
    said = read(session.entry(row))
    words = one_line(said.words, longest=200)
    if words:
        return words
    return "(image)" if said.images else "(empty)"
