"""A session in the shape most training tools take: a list of records with `conversations`.

Sides take turns, as the tools insist on: `human` or `observation`, then `gpt` or `function_call`. What one
side says in a row is one entry. Calls that go out together are one `function_call` (a JSON list), their
results one `observation`; words that came with calls are beside them as `text`, which readers pass over.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from clew.export.dialogue import Answered, dialogue, told, words_of
from clew.export.json_bytes import json_pieces, json_text
from clew.export.tool_lists import function_name, functions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clew.export.options import Options
    from clew.export.story import Story

Side = Literal["human", "gpt", "function_call", "observation"]

_GIVEN: Final[frozenset[Side]] = frozenset({"human", "observation"})
_NOTHING: Final = "(nothing)"
"""Stands for a prompt where the session begins with an answer."""


@dataclass(slots=True)
class _Entry:
    """What one side says until the other does."""

    side: Side
    values: list[str]
    texts: list[str] = field(default_factory=list[str])

    @property
    def document(self) -> dict[str, object]:
        found: dict[str, object] = {"from": self.side, "value": "\n\n".join(self.values)}
        if self.texts:
            found["text"] = "\n\n".join(self.texts)
        return found


def write(story: Story, options: Options) -> Iterator[bytes]:  # noqa: ARG001  # the same for all exporters
    """Give the list, with the one record of the session."""
    record: dict[str, object] = {"id": story.head.session, "conversations": _alternating(_entries(story))}
    names = [call.name or "unknown" for turn in story.cuts for call in turn.calls]
    if names:
        record["tools"] = json_text([one["function"] for one in functions(names)])
    pieces = json_pieces(record)
    yield b"["
    yield from (piece for piece in pieces if piece != b"\n")
    yield b"]\n"


def _entries(story: Story) -> Iterator[_Entry]:
    for spoken in dialogue(story.session, story.cuts):
        if not isinstance(spoken, Answered):
            if not spoken.is_summary:
                yield _Entry("human", ["\n".join(words_of(block) for block in spoken.blocks)])
            continue
        text = spoken.text
        if spoken.message.is_api_error or (not text and not spoken.calls):
            continue
        if not spoken.calls:
            yield _Entry("gpt", [text])
            continue
        calls = [{"name": function_name(call.name), "arguments": dict(call.input)} for call in spoken.calls]
        yield _Entry("function_call", [json_text(calls)], [text] if text else [])
        yield _Entry("observation", ["\n\n".join(told(call.result) for call in spoken.calls)])


def _alternating(entries: Iterator[_Entry]) -> Iterator[dict[str, object]]:
    """Let the sides take turns, from a prompt to an answer; what is not answered at the end is left out."""
    held: _Entry | None = None
    for entry in entries:
        if held is None:
            held = entry if entry.side in _GIVEN else _Entry("human", [_NOTHING])
            if held is entry:
                continue
        if (held.side in _GIVEN) != (entry.side in _GIVEN):
            yield held.document
            held = entry
        elif held.side in _GIVEN:
            held.values += entry.values  # whoever speaks second, the answer is to both
        elif entry.side == "function_call":
            # Words and then calls, by the same side: the calls are what is answered.
            held = _Entry("function_call", entry.values, [*held.values, *entry.texts])
        else:
            held.values += entry.values
    if held is not None and held.side not in _GIVEN:
        yield held.document
