"""A tool nobody knows: its first argument, its input as names and values, its answer as it came.

What the displays of the known tools have in common is here too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from clew.format import fields
from clew.format.blocks import Document, Text
from clew.view import words
from clew.view.parts import Code, Image, Notice, Section, Table
from clew.view.pictures import in_words, picture
from clew.view.texts import lines_word, one_line, pretty, relative
from clew.view.tools.display import Asked, Shown

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from clew.format.blocks import Block
    from clew.view.parts import Part

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
_WRAPPED: Final = re.compile(r"\s*<tool_use_error>(.*)</tool_use_error>\s*", re.DOTALL)
_SAVED: Final = re.compile(
    r"<persisted-output>\s*Output too large \(([^()\n]{1,40})\)\. Full output saved to: ([^\n]{1,4096})"
)
_SHORT_VALUE: Final = 120

TOLD: Final = "told to the model"


def show(asked: Asked) -> Shown:
    """Show a call by what stands in it."""
    return Shown(first(asked), outcome(asked), given(asked), told(asked))


# What it was asked ------------------------------------------------------------------------------------


def first(asked: Asked) -> str:
    """Return the one argument that tells most."""
    values = asked.given
    for key in _FIRST:
        value = fields.string(values, key)
        if value:
            return one_line(relative(value, asked.folder) if key in _PATHS else value)
    value = next((value for value in values.values() if isinstance(value, str) and value), None)
    if value is not None:
        return one_line(value)
    return one_line(", ".join(f"{key[:80]}={_plain(value)}" for key, value in list(values.items())[:4]))


def _plain(value: object) -> str:
    return "…" if isinstance(value, dict | list) else str(value)[:80]


def given(asked: Asked, *, but: Collection[str] = ()) -> tuple[Part, ...]:
    """Return the input, all of it or without some names: short values as a table, long ones each alone."""
    if asked.raw is not None and fields.as_mapping(asked.raw) is None:
        return (Code(pretty(asked.raw), language="json"),)
    return named({key: value for key, value in asked.given.items() if key not in but})


def named(values: Mapping[str, object]) -> tuple[Part, ...]:
    """Return names and values: short ones as a table, long texts and nested values under their names."""
    rows: list[tuple[str, str]] = []
    long: list[Part] = []
    for key, value in values.items():
        name = one_line(key, longest=100)
        if isinstance(value, str):
            if "\n" in value or len(value) > _SHORT_VALUE:
                long.append(Section(name, (Code(value),), is_open=True))
            else:
                rows.append((name, value))
        elif fields.as_mapping(value) or fields.as_items(value):
            long.append(Section(name, (Code(pretty(value), language="json"),), is_open=True))
        else:
            rows.append((name, pretty(value)))
    return (*((Table(tuple(rows)),) if rows else ()), *long)


# What came of it --------------------------------------------------------------------------------------


def outcome(asked: Asked) -> str:
    """Return what came of a call in a word or two; empty where there is nothing to say."""
    failed = failure(asked)
    if failed is not None or asked.result is None:
        return failed or ""
    pictures = [picture(block) for block in asked.result.content if isinstance(block, Document)]
    names = [in_words(one) for one in pictures if isinstance(one, Image)]
    if names:
        return ", ".join(names[:3])
    said = asked.said
    if saved := _SAVED.match(said):
        return saved[1]
    return lines_word(said) if said.strip() else ""


def failure(asked: Asked) -> str | None:
    """Return how a call went wrong in a word or two; None when it did not."""
    match asked.state:
        case "missing":
            return "no result"
        case "running":
            return "running"
        case "refused":
            return "refused"
        case "failed":
            code = _EXIT.match(asked.said)
            return f"exit {code[1]}" if code else "failed"
        case "done":
            return None


def is_refusal(said: str) -> bool:
    """Say whether the words of a failed call are those of a person who said no."""
    return _REFUSED.match(said) is not None


def told(asked: Asked, *, language: str | None = None) -> tuple[Part, ...]:
    """Return what the model was told, as it was."""
    if asked.result is None:
        return ()
    made = tuple(content(asked.result.content, language=language))
    return made or _bare(asked.result.data.get("content"))


def rest(asked: Asked, covered: str = "") -> tuple[Part, ...]:
    """Return what the model was told and other parts do not cover: texts folded, pictures as they are."""
    folded: list[Part] = []
    beside: list[Part] = []
    for one in told(asked):
        if not isinstance(one, Code):
            beside.append(one)
        elif one.text.strip() and one.text.strip() not in covered:
            folded.append(one)
    return (*beside, *((Section(TOLD, tuple(folded)),) if folded else ()))


def content(blocks: tuple[Block, ...], *, language: str | None = None) -> Iterator[Part]:
    """Give the parts for the blocks of an answer: texts, pictures, and what is unknown as JSON."""
    for block in blocks:
        if isinstance(block, Text):
            if block.text:
                yield Code(unwrapped(block.text), language=language)
                yield from saved_elsewhere(block.text)
        elif isinstance(block, Document):
            yield picture(block)
        else:
            yield unknown_block(block)


def unwrapped(text: str) -> str:
    """Return the words of an error without the tag the client puts around them."""
    if not text.lstrip().startswith("<tool_use_error>"):
        return text
    found = _WRAPPED.fullmatch(text)
    return text if found is None else found[1]


def saved_elsewhere(text: str) -> Iterator[Notice]:
    """Name the file that holds an output too large for its line."""
    if found := _SAVED.match(text):
        yield Notice(f"the whole output, {found[1]}, is in {found[2].strip()}")


def saved_at(path: str | None, size: int | None) -> Iterator[Notice]:
    """Name the file that holds an output too large for its line, as the client noted it."""
    if path:
        length = "" if size is None else f", {words.size(size)},"
        yield Notice(one_line(f"the whole output{length} is in {path}"))


def unknown_block(block: Block) -> Notice:
    """Return the notice for a block of a type clew does not know."""
    kind = one_line(block.type or "no type at all", longest=80)
    return Notice(f"a block clew does not know: {kind}", detail=pretty(block.raw))


def _bare(value: object) -> tuple[Part, ...]:
    """Return what stands where an answer belongs and is none."""
    return () if value in (None, "", []) else (Code(pretty(value), language="json"),)
