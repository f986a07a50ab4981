"""The messages the client makes of the lines of a path, step by step as it does it.

Lines become drafts; calls without results are dropped or closed; what says nothing goes; the parts of one
answer are merged; calls and results are paired. `clew.session.context` chooses the lines and tells the rest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, cast

from clew.format.entry import as_mapping
from clew.session.graph import BOUNDARY
from clew.session.parallel import with_parallel
from clew.session.session import API_ERROR

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clew.session.chain import Chain
    from clew.session.eras import Rules
    from clew.session.session import Session

NO_RESPONSE: Final = "No response requested."
GO_ON: Final = "Continue from where you left off."
NO_CONTENT: Final = "(no content)"
CALL_INTERRUPTED: Final = "[Tool use interrupted]"
ORPHANS_REMOVED: Final = "[Orphaned tool result removed due to conversation resume]"
RESULT_MISSING: Final = "[Tool result missing due to internal error]"
SESSION_ENDED: Final = (
    "[Tool call interrupted: the session ended before this call's result was recorded, so its outcome is "
    "unknown. Check whether it took effect before relying on it or running it again.]"
)

_DATED = re.compile(r"-\d{8}$")

Blocks = list[dict[str, Any]]


@dataclass(slots=True)
class Draft:
    """A message in the making."""

    role: str
    blocks: Blocks
    rows: list[int] = field(default_factory=list[int])
    message_id: str | None = None
    is_prompt: bool = False
    """Made from a line under the user's role, which waits for an answer; a local command does not."""

    is_local: bool = False
    """Made from a local command, which waits for nothing."""

    @property
    def has_result(self) -> bool:
        """Whether it brings a tool result."""
        return any(block.get("type") == "tool_result" for block in self.blocks)


def is_foreign(model: str | None, asked: str) -> bool:
    """Say whether thinking of `model` is foreign to the model asked; a dated name equals its alias."""
    if model == "<synthetic>":
        return False
    return model is None or _DATED.sub("", model) != _DATED.sub("", asked)


class Maker:
    """Turns the lines of a path into messages."""

    def __init__(self, session: Session, era: Rules, model: str) -> None:
        self.session = session
        self.era = era
        self.model = model
        # Of each row the place of its reason among the few there are.
        self._reasons = bytearray(len(session))
        self._words = [""]
        self._renames = dict(era.renames)

    def drafts(self, path: Chain) -> list[Draft]:
        """Return the messages, in order."""
        rows = with_parallel(self.session, path, self.era) if self.era.recovers_parallel else path.rows
        lines = [draft for row in rows if (draft := self._line(row)) is not None]
        exempt = range(0)
        if self.era.closes_interrupted and self._is_interrupted(lines, rows):
            exempt = _open_turn(lines)
            lines = self._with_closed(lines)
        lines = self._without_unresolved(lines, exempt)
        if self.era.drops_bare_thinking:
            lines = self._without_bare(lines)
        lines = self._with_answer(lines, rows)
        drafts = self._merge(lines)
        for draft in drafts:
            if draft.role == "assistant" and self.era.moves_calls_last:
                draft.blocks = _calls_last(draft.blocks)
        return self._mend_pairs(drafts)

    # Lines --------------------------------------------------------------------------------------

    def _line(self, row: int) -> Draft | None:
        kind = self.session.table.kind_of(row)
        if kind == "user":
            entry = self.session.entry(row)
            said = self._said(entry.content)
            if self.era.wraps_notifications and entry.mapping("origin").get("kind") == "task-notification":
                said = [_wrapped(block) for block in said]
            return Draft("user", said, [row], is_prompt=True)
        if kind == "assistant":
            if self.session.table.flags[row] & API_ERROR:
                return self._drop(row, "an API error, not an answer")
            entry = self.session.entry(row)
            blocks = self._answer(entry.content, entry.model)
            if not blocks and entry.content:
                return self._drop(row, f"thinking of another model than {self.model}")
            return Draft("assistant", blocks, [row], entry.message_id)
        if kind == "system/local_command" and self.era.sends_local_command:
            return Draft("user", _blocks(self.session.entry(row).content), [row], is_local=True)
        if kind == BOUNDARY:
            return self._drop(row, "marks the compaction")
        if kind.startswith("attachment"):
            return self._drop(row, "a reminder of the client's own, made anew")
        return self._drop(row, "never sent: a record for the client alone")

    def _said(self, content: object) -> Blocks:
        blocks = _blocks(content)
        if self.era.names_images:
            blocks = [_text("[image]") if block.get("type") == "image" else block for block in blocks]
        if self.era.orphan_results != "note":
            return blocks
        for at, block in enumerate(blocks):
            inner = block.get("content")
            if block.get("type") == "tool_result" and block.get("is_error") and isinstance(inner, list):
                # The API takes no images in the result of a call that failed.
                texts = [
                    part for part in cast("list[object]", inner) if as_mapping(part).get("type") != "image"
                ]
                blocks[at] = {**block, "content": texts}
        if isinstance(content, list) and len(blocks) == 1 and blocks[0].get("text") == "":
            return [_text(NO_CONTENT)]
        return blocks

    def _answer(self, content: object, model: str | None) -> Blocks:
        blocks = _blocks(content)
        if self.era.drops_foreign_thinking and is_foreign(model, self.model):
            blocks = [block for block in blocks if block.get("type") != "thinking"]
        if len(blocks) > 1:
            blocks = [block for block in blocks if block.get("type") != "text" or block.get("text") != ""]
        for at, block in enumerate(blocks):
            if block.get("type") == "tool_use":
                blocks[at] = self._call(block)
        return blocks

    def _call(self, block: dict[str, Any]) -> dict[str, Any]:
        name, given = block.get("name"), block.get("input")
        if isinstance(name, str) and name in self._renames:
            return {**block, "name": self._renames[name]}
        if name == "ExitPlanMode" and isinstance(given, dict):
            fields = cast("dict[str, Any]", given).items()
            return {**block, "input": {k: v for k, v in fields if k not in self.era.unsent_of_plans}}
        return block

    def _drop(self, row: int, reason: str) -> None:
        if reason not in self._words:
            self._words.append(reason)
        self._reasons[row] = self._words.index(reason)

    def reason(self, row: int) -> str | None:
        """Return why a row of the path is not sent; None for one that is, or is on no path."""
        return self._words[self._reasons[row]] or None

    # The end ------------------------------------------------------------------------------------

    def _with_closed(self, lines: list[Draft]) -> list[Draft]:
        """Give the calls a session ended in the midst of a result that says so, behind the real ones."""
        answers = [
            at for at, line in enumerate(lines) if line.role == "assistant" and not _is_bare(line.blocks)
        ]
        if not answers:
            return lines
        last = answers[-1]
        group = [last]
        for at in reversed(answers[:-1]):
            if not _is_same(lines[at], lines[last]):
                break
            group.insert(0, at)
        done = _answered(lines)
        open_calls = [call for at in group for call in _calls(lines[at]) if call not in done]
        if not open_calls:
            return lines
        made = [_missing(call, SESSION_ENDED) for call in open_calls]
        results = (at for at, line in enumerate(lines) if line.is_prompt and at > group[0])
        at = max([last, *results]) + 1
        return [*lines[:at], Draft("user", made, is_prompt=True), *lines[at:]]

    def _is_interrupted(self, lines: list[Draft], rows: Sequence[int]) -> bool:
        """Say whether the session ended between a call and the answer to its result."""
        end = next(
            (line for line in reversed(lines) if not line.is_local and not _is_bare(line.blocks)),
            None,
        )
        if end is None:
            return False
        if any(self._is_error(row) for row in rows[rows.index(end.rows[-1]) + 1 :]):
            return False
        if end.role == "user":
            return end.has_result
        done = _answered(lines)
        return any(call not in done for call in _calls(end))

    def _with_answer(self, lines: list[Draft], rows: Sequence[int]) -> list[Draft]:
        """Answer the last prompt, where nothing did, as the client does to be able to go on."""
        at = max((n for n, line in enumerate(lines) if line.is_prompt), default=-1)
        if at < 0 or any(line.role == "assistant" for line in lines[at + 1 :]):
            return lines
        prompt = max(lines[at].rows, default=-1)
        after = rows[rows.index(prompt) + 1 :] if prompt in rows else ()
        # What was attached to a prompt has left already: then the turn had begun.
        attached = (self.session.table.kind_of(row).startswith("attachment") for row in after)
        has_begun = lines[at].has_result or any(attached)
        has_failed = any(map(self._is_error, after))
        asks = self.era.asks_to_continue
        goes_on = has_begun and (asks == "always" or (asks == "unless-error" and not has_failed))
        if not goes_on and has_failed:
            return lines  # an API error counts as an answer, though it is not sent
        answer = Draft("assistant", [_text(NO_RESPONSE)])
        if goes_on:
            return [*lines, Draft("user", [_text(GO_ON)]), answer]
        return [*lines[: at + 1], answer, *lines[at + 1 :]]

    def _is_error(self, row: int) -> bool:
        return bool(self.session.table.flags[row] & API_ERROR)

    # Calls without results ----------------------------------------------------------------------

    def _without_unresolved(self, lines: list[Draft], exempt: range) -> list[Draft]:
        """Drop the lines whose calls all lack a result, but for those exempt."""
        answered = _answered(lines)
        kept: list[Draft] = []
        for at, line in enumerate(lines):
            calls = _calls(line)
            if at not in exempt and calls and not any(call in answered for call in calls):
                for row in line.rows:
                    self._drop(row, "a call that never got a result")
                continue
            kept.append(line)
        return kept

    def _without_bare(self, lines: list[Draft]) -> list[Draft]:
        """Drop answers of nothing but thinking or white space, unless other lines of theirs say more."""
        full: set[str] = set()
        for line in lines:
            if line.role == "assistant" and line.message_id and not _is_bare(line.blocks):
                full.add(line.message_id)
        kept: list[Draft] = []
        for line in lines:
            bare = line.role == "assistant" and _is_bare(line.blocks)
            blank = _is_blank(line.blocks) and (self.era.drops_empty_lines or not _is_empty(line.blocks))
            if bare and (blank or line.message_id not in full):
                for row in line.rows:
                    self._drop(row, "nothing but thinking or white space")
                continue
            kept.append(line)
        return kept

    # Messages -----------------------------------------------------------------------------------

    def _merge(self, lines: list[Draft]) -> list[Draft]:
        """Make messages of lines: user lines in a row are one, and so are the lines of one answer."""
        drafts: list[Draft] = []
        run: list[Draft] = []
        reach: dict[str, Draft] = {}
        for line in lines:
            if line.role == "user":
                run.append(line)
                continue
            if self._parts(drafts, run, line):
                reach.clear()
            same = reach.get(line.message_id) if line.message_id is not None else None
            if same is not None:
                # What follows joins the user lines before, now that nothing stands between them.
                same.blocks.extend(line.blocks)
                same.rows.extend(line.rows)
                continue
            if run:
                drafts.append(_joined(run))
                run = []
            drafts.append(line)
            if line.message_id is not None:
                reach[line.message_id] = line
        return [*drafts, _joined(run)] if run else drafts

    def _parts(self, drafts: list[Draft], run: list[Draft], line: Draft) -> bool:
        """Say whether what stands before a line keeps it from joining an earlier part of its answer."""
        if run:
            return not self.era.merges_apart or not any(one.has_result for one in run)
        return not self.era.merges_apart and bool(drafts) and drafts[-1].message_id != line.message_id

    # Pairs --------------------------------------------------------------------------------------

    def _mend_pairs(self, drafts: list[Draft]) -> list[Draft]:
        """Give every call its result in the next message, and every result its call in the one before."""
        if self.era.orphan_results == "keep":
            return drafts
        mended: list[Draft] = []
        seen: set[str | None] = set()
        for at, draft in enumerate(drafts):
            if draft.role == "assistant":
                self._mend_calls(draft, seen)
                mended.append(draft)
                calls = _calls(draft)
                follows = at + 1 < len(drafts) and drafts[at + 1].role == "user"
                if calls and not follows:
                    mended.append(Draft("user", [_missing(call) for call in calls]))
                continue
            calls = _calls(mended[-1]) if mended else []
            if mended or self.era.orphan_results == "note":
                self._mend_results(draft, calls, before=bool(mended), is_last=at + 1 == len(drafts))
            if draft.blocks:
                mended.append(draft)
        return mended

    def _mend_calls(self, draft: Draft, seen: set[str | None]) -> None:
        """Take out calls under an id that was used before."""
        if self.era.repeated_calls == "keep":
            return
        kept: Blocks = []
        for block in draft.blocks:
            if block.get("type") == "tool_use":
                call = _ref(block, "id")
                if call is not None and call in seen:
                    continue
                seen.add(call)
            kept.append(block)
        if not kept:
            kept = [{**_text(CALL_INTERRUPTED), "citations": []} if draft.blocks else _text(NO_CONTENT)]
        draft.blocks = kept

    def _mend_results(self, draft: Draft, calls: list[str], *, before: bool, is_last: bool) -> None:
        """Keep one result a call, make those that are missing, take out the others."""
        open_calls = dict.fromkeys(calls)
        kept: Blocks = []
        lost = False
        for block in draft.blocks:
            if block.get("type") == "tool_result":
                call = _ref(block, "tool_use_id")
                if call is None or call not in open_calls:
                    lost = True
                    continue
                del open_calls[call]
            kept.append(block)
        if self.era.orphan_results == "note":
            kept = [_missing(call) for call in open_calls] + kept
        if lost and not kept and self.era.orphan_results == "note":
            if before:
                kept = [] if is_last else [_text(NO_CONTENT)]
            elif self.era.notes_first_orphans:
                kept = [_text(ORPHANS_REMOVED)]
        draft.blocks = kept


def _missing(call: str, words: str = RESULT_MISSING) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call, "content": words, "is_error": True}


def _is_same(one: Draft, other: Draft) -> bool:
    """Say whether two lines belong to one answer."""
    return one.message_id is not None and one.message_id == other.message_id


def _joined(lines: list[Draft]) -> Draft:
    """Make one message of user lines in a row: tool results first, texts set apart by a newline."""
    first = lines[0]
    if len(lines) == 1:
        return first
    results = [block for block in first.blocks if block.get("type") == "tool_result"]
    others = [block for block in first.blocks if block.get("type") != "tool_result"]
    last = first.blocks[-1] if first.blocks else {}
    for line in lines[1:]:
        if line.blocks and last.get("type") == line.blocks[0].get("type") == "text":
            others[-1] = {**others[-1], "text": f"{others[-1].get('text')}\n"}
        for block in line.blocks:
            (results if block.get("type") == "tool_result" else others).append(block)
        last = others[-1] if others else results[-1] if results else {}
    rows = [row for line in lines for row in line.rows]
    return Draft("user", results + others, rows, is_prompt=any(line.is_prompt for line in lines))


def _calls_last(blocks: Blocks) -> Blocks:
    """Move the calls of an answer behind everything else, unless thinking they part would meet."""
    calls = [block for block in blocks if block.get("type") == "tool_use"]
    others = [block for block in blocks if block.get("type") != "tool_use"]
    return blocks if _meetings(others) > _meetings(blocks) else others + calls


def _meetings(blocks: Blocks) -> int:
    """Count the places where thinking follows thinking."""
    kinds = [block.get("type") for block in blocks]
    return sum(one == other == "thinking" for one, other in pairwise(kinds))


def _wrapped(block: dict[str, Any]) -> dict[str, Any]:
    """Put a text into a reminder. The client puts a warning before it too, which is not said again here."""
    words = block.get("text")
    if block.get("type") != "text" or not isinstance(words, str):
        return block
    return {**block, "text": f"<system-reminder>\n{words}\n</system-reminder>"}


def _text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def _blocks(content: object) -> Blocks:
    """Return content as a list of blocks of our own, safe to change."""
    if isinstance(content, str):
        return [_text(content)]
    if not isinstance(content, list):
        return []
    items = cast("list[object]", content)
    return [dict(cast("dict[str, Any]", item)) for item in items if isinstance(item, dict)]


def _calls(line: Draft) -> list[str]:
    if line.role != "assistant":
        return []
    ids = (_ref(block, "id") for block in line.blocks if block.get("type") == "tool_use")
    return [call for call in ids if call is not None]


def _ref(block: Mapping[str, Any], name: str) -> str | None:
    """Return the id a block goes by; what is no string names nothing."""
    value = block.get(name)
    return value if isinstance(value, str) else None


def _is_bare(blocks: Blocks) -> bool:
    """Say whether blocks hold nothing but thinking, or nothing but white space."""
    if not blocks:
        return False
    kinds = {_ref(block, "type") for block in blocks}
    return kinds <= {"thinking", "redacted_thinking"} or _is_blank(blocks)


def _is_empty(blocks: Blocks) -> bool:
    """Say whether blocks are one text without a character."""
    return len(blocks) == 1 and blocks[0].get("type") == "text" and blocks[0].get("text") == ""


def _is_blank(blocks: Blocks) -> bool:
    """Say whether blocks hold nothing but texts of white space."""
    texts = [str(block.get("text") or "") for block in blocks if block.get("type") == "text"]
    return len(texts) == len(blocks) and not any(text.strip() for text in texts)


def _answered(lines: list[Draft]) -> set[str | None]:
    """Return the ids of the calls that have a result somewhere."""
    return {
        _ref(block, "tool_use_id")
        for line in lines
        if line.role == "user"
        for block in line.blocks
        if block.get("type") == "tool_result"
    }


def _open_turn(lines: list[Draft]) -> range:
    """Return the lines of the last turn if, but for its open calls, it ends in a result; else none."""
    done = _answered(lines)
    for line in reversed(lines):
        calls = _calls(line)
        if line.is_local or _is_bare(line.blocks) or (calls and not any(call in done for call in calls)):
            continue
        if line.has_result:
            prompts = (at for at, one in enumerate(lines) if one.is_prompt and not one.has_result)
            return range(max(prompts, default=-1) + 1, len(lines) + 1)
        break
    return range(0)
