"""Make random session files from seeds: the same seed gives the same bytes, on every machine.

Each file is a conversation of several turns in which some of the features below happen, picked by the
seed. Nothing is tuned to be easy: features meet each other wherever chance puts them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Literal, TypeAlias, cast, get_args

from tests.conformance import author as make
from tests.conformance.author import Author

if TYPE_CHECKING:
    from tests.conformance.notation import Json

Feature: TypeAlias = Literal[
    "branch",
    "boundary",
    "preserved",
    "parallel-linear",
    "parallel-tree",
    "parallel-interleaved",
    "parallel-merged",
    "missing-result",
    "sidechain",
    "meta",
    "attachment",
    "progress",
    "local-command",
    "last-prompt-stale",
    "last-prompt-explicit",
    "deleted",
    "doubled",
    "torn",
    "thinking",
    "foreign-thinking",
    "api-error",
    "synthetic",
    "summary",
    "image",
    "odd-result",
    "blank-text",
    "system-line",
    "unanswered",
]

FEATURES: tuple[Feature, ...] = get_args(Feature)

_LIKELY: dict[Feature, float] = {
    "deleted": 0.16,
    "doubled": 0.18,
    "torn": 0.18,
    "odd-result": 0.15,
    "boundary": 0.35,
    "preserved": 0.6,
}
"""How likely a feature is wanted, where it is not 0.25. Wanted is not had: chance may pass it by."""

_TOOLS: tuple[tuple[str, dict[str, Json]], ...] = (
    ("Bash", {"command": "ls -la", "description": "List files"}),
    ("Read", {"file_path": "/home/user/project/a.txt"}),
    ("Write", {"file_path": "/home/user/project/new.txt", "content": "one\ntwo\n"}),
    (
        "Edit",
        {"file_path": "/home/user/project/a.txt", "old_string": "a", "new_string": "b", "replace_all": False},
    ),
    ("Grep", {"pattern": "x", "output_mode": "files_with_matches"}),
    ("Task", {"description": "d", "prompt": "p", "subagent_type": "general-purpose"}),
    ("Agent", {"description": "d", "prompt": "p", "subagent_type": "general-purpose"}),
    ("TodoWrite", {"todos": [{"content": "x", "status": "pending", "activeForm": "y"}]}),
    ("mcp__server__lookup", {"query": "x", "deep": {"a": [1, 2.5, None, True]}}),
    ("WebFetch", {"url": "https://example.com", "prompt": "p"}),
)

_LAYOUTS: dict[Feature, str] = {
    "parallel-linear": "linear",
    "parallel-tree": "tree",
    "parallel-interleaved": "interleaved",
    "parallel-merged": "merged",
}


@dataclass(frozen=True, slots=True)
class Sample:
    """A made session file."""

    seed: int
    data: bytes
    features: frozenset[Feature]
    """What really is in the file."""


def generate(seed: int) -> Sample:
    """Make the session file of a seed."""
    rng = Random(seed)
    wanted: set[Feature] = {feature for feature in FEATURES if rng.random() < _LIKELY.get(feature, 0.25)}
    scene = _Scene(rng, wanted)
    scene.play()
    return Sample(seed, scene.data(), frozenset(scene.had))


class _Scene:
    """One session on its way: turns, then the hints, then the damage."""

    def __init__(self, rng: Random, wanted: set[Feature]) -> None:
        self.rng = rng
        self.wanted = wanted
        self.had: set[Feature] = set()
        self.author = Author(rng)

    def chance(self, feature: Feature, likely: float = 0.5) -> bool:
        """Whether a wanted feature happens here; noted when it does."""
        if feature in self.wanted and self.rng.random() < likely:
            self.had.add(feature)
            return True
        return False

    def play(self) -> None:
        """Write the whole session."""
        rng = self.rng
        if self.chance("summary", 0.9):
            self.author.note("summary", {"summary": "Old work", "leafUuid": self.author.fresh_uuid()})
        if rng.random() < 0.5:
            self.author.note("queue-operation", {"operation": "enqueue", "content": "x"})
        turns = rng.randint(2, 6)
        for turn in range(turns):
            # Not from the tip: that would be no branch.
            names = self._uuids("user", "assistant", "attachment", "system")
            older = [name for name in names if name != self.author.tip]
            if older and self.chance("branch", 0.5):
                self.author.tip = rng.choice(older)
            if turn and self.chance("boundary", 0.5):
                self._compact()
            self._turn(is_last=turn == turns - 1)
            if rng.random() < 0.15:
                self.author.note("last-prompt", {"lastPrompt": "x", "leafUuid": self.author.tip})
            if self.chance("last-prompt-stale", 0.3):
                self._hint(explicit=False)
            if self.chance("last-prompt-explicit", 0.3):
                self._hint(explicit=True)
        if "last-prompt-stale" in self.wanted and "last-prompt-stale" not in self.had:
            self.had.add("last-prompt-stale")
            self._hint(explicit=False)

    def _uuids(self, *kinds: str) -> list[str]:
        """The uuids of the lines of some kinds, oldest first."""
        return [str(line["uuid"]) for line in self.author.lines if line["type"] in kinds]

    def _hint(self, *, explicit: bool) -> None:
        names = self._uuids("user", "assistant", "attachment", "system")
        leaf = self.rng.choice([*names[-8:], self.rng.choice(names), str(self.author.tip)])
        body: dict[str, Json] = {"lastPrompt": "x", "leafUuid": leaf}
        self.author.note("last-prompt", body | ({"explicit": True} if explicit else {}))

    def _compact(self) -> None:
        """Write a boundary and a summary, and perhaps name messages that stay."""
        rng, author = self.rng, self.author
        kept = [str(line["uuid"]) for line in author.chain() if line["type"] != "progress"]
        kept = kept[-rng.randint(1, 6) :]
        old = author.tip
        meta: dict[str, Json] = {"trigger": rng.choice(("manual", "auto")), "preTokens": 341}
        boundary = author.system(
            "compact_boundary",
            "Conversation compacted",
            parent=None,
            logicalParentUuid=old,
            compactMetadata=meta,
        )
        summary = author.user(
            author.tag("summary"), parent=boundary, isCompactSummary=True, isVisibleInTranscriptOnly=True
        )
        author.tip = summary
        if self.chance("preserved", 0.8):
            anchor = summary if rng.random() < 0.8 else boundary
            if rng.random() < 0.15:
                kept[0] = author.fresh_uuid()
            if rng.random() < 0.8:
                meta["preservedMessages"] = {"anchorUuid": anchor, "uuids": [*kept], "allUuids": [*kept]}
            if rng.random() < 0.5 or "preservedMessages" not in meta:
                meta["preservedSegment"] = {"headUuid": kept[0], "anchorUuid": anchor, "tailUuid": kept[-1]}
            if rng.random() < 0.2 and old is not None:
                author.tip = old
        if rng.random() < 0.3:
            self.had.add("meta")
            author.user(f"Caveat: {author.tag('caveat')}", isMeta=True)
            author.user("<command-name>/compact</command-name>")
            author.user(f"<local-command-stdout>{author.tag('compacted')}</local-command-stdout>")

    def _turn(self, *, is_last: bool) -> None:
        """One prompt, the rounds of calls it leads to, and the answer."""
        rng, author = self.rng, self.author
        self._prompt()
        self._extras()
        for _ in range(rng.choice((0, 0, 1, 1, 2, 3))):
            self._round()
            self._extras()
        if self.chance("sidechain", 0.5):
            self._sidechain()
        if is_last and self.chance("unanswered", 0.8):
            return
        self._answer()
        if self.chance("system-line", 0.5):
            author.system(rng.choice(("turn_duration", "informational", "stop_hook_summary")), "said")
        if self.chance("local-command", 0.5):
            author.system("local_command", f"<command-name>/{author.tag('cost')}</command-name>")
            author.system(
                "local_command", f"<local-command-stdout>{author.tag('out')}</local-command-stdout>"
            )

    def _prompt(self) -> None:
        rng, author = self.rng, self.author
        words = author.tag("ask")
        if self.chance("image", 0.4):
            author.user([make.image(), make.text(words)])
        elif rng.random() < 0.25:
            author.user([make.text(words), make.text(author.tag("more"))])
        else:
            author.user(words, permissionMode="default")
        if self.chance("meta", 0.5):
            author.user(rng.choice((author.tag("meta"), [make.text(author.tag("meta"))])), isMeta=True)

    def _extras(self) -> None:
        """What the client slips in between."""
        author = self.author
        while self.chance("attachment", 0.4):
            author.attachment()
        if self.chance("progress", 0.3):
            author.progress(author.call_id())
        if self.rng.random() < 0.1:
            author.note(
                "file-history-snapshot", {"messageId": author.fresh_uuid(), "isSnapshotUpdate": False}
            )
        if self.rng.random() < 0.05:
            author.note("a-type-of-tomorrow", {"payload": 1})

    def _sidechain(self) -> None:
        """A sub-agent's lines in the session's own file, as old clients wrote them."""
        author = self.author
        root = None if self.rng.random() < 0.7 else author.tip
        first = author.user(author.tag("sub-ask"), parent=root, side=True)
        author.assistant([make.text(author.tag("sub-say"))], author.message_id(), parent=first, side=True)

    def _answer(self) -> None:
        rng, author = self.rng, self.author
        if self.chance("api-error", 0.4):
            content = [make.text(f"API Error: {author.tag('overloaded')}")]
            author.assistant(content, author.fresh_uuid(), model="<synthetic>", isApiErrorMessage=True)
        elif self.chance("synthetic", 0.4):
            content = [make.text("No response requested.")]
            author.assistant(content, author.fresh_uuid(), model="<synthetic>", isApiErrorMessage=False)
        else:
            message = author.message_id()
            self._think(message)
            if self.chance("blank-text", 0.5):
                author.assistant([make.text(rng.choice(("", " ", "\n\n")))], message)
            if rng.random() < 0.9:
                author.assistant([make.text(author.tag("say"))], message)

    def _think(self, message: str) -> None:
        """Perhaps a line of thinking, of this model or another."""
        if self.chance("foreign-thinking", 0.3):
            self.author.assistant([make.thinking("foreign thought")], message, model=make.OTHER_MODEL)
        elif self.chance("thinking", 0.5):
            self.author.assistant([make.thinking(self.author.tag("thought").strip())], message)

    def _round(self) -> None:
        """One assistant message with calls, and their results."""
        rng, author = self.rng, self.author
        message = author.message_id()
        self._think(message)
        if rng.random() < 0.4:
            author.assistant([make.text(author.tag("so"))], message)
        layouts: list[Feature] = [feature for feature in _LAYOUTS if feature in self.wanted]
        if not layouts or rng.random() < 0.2:
            self._calls("linear", message, 1)
        else:
            layout = rng.choice(layouts)
            self.had.add(layout)
            self._calls(_LAYOUTS[layout], message, rng.randint(2, 4))

    def _calls(self, layout: str, message: str, count: int) -> None:
        rng, author = self.rng, self.author
        ids = [author.call_id() for _ in range(count)]
        blocks = [make.call(own, *rng.choice(_TOOLS)) for own in ids]
        results = [self._result(own) for own in ids]
        answered = [n for n in range(count) if not self.chance("missing-result", 0.3)]
        if layout == "merged":
            if rng.random() < 0.4:
                blocks.insert(rng.randint(0, count), make.text(author.tag("with")))
            author.assistant(blocks, message)
            if answered:
                author.user([results[n] for n in answered])
            return
        if layout == "interleaved":
            for n in range(count):
                own = author.assistant([blocks[n]], message)
                if n in answered:
                    # The next call hangs on this result, or beside it on this call.
                    is_beside = n + 1 < count and rng.random() < 0.5
                    self._say_result(results[n], parent=own if is_beside else "")
            return
        lines = [author.assistant([block], message) for block in blocks]
        if rng.random() < 0.4:
            rng.shuffle(answered)
        last = author.tip
        for n in answered:
            last = self._say_result(results[n], parent=lines[n] if layout == "tree" else "")
        author.tip = last
        if len(answered) < count and rng.random() < 0.3:
            author.user([make.text("[Request interrupted by user for tool use]")])

    def _say_result(self, block: Json, *, parent: str) -> str:
        """Write a result line, now and then at an odd place or twice."""
        author = self.author
        if self.chance("odd-result", 0.25):
            odd = self.rng.choice(("text-before", "assistant-before", "twice", "stranger", "reused"))
            if odd == "text-before":
                author.user(author.tag("note"))
            elif odd == "assistant-before":
                author.assistant([make.text(author.tag("aside"))], author.message_id())
            elif odd == "twice":
                author.user([block], parent=parent)
            elif odd == "reused" and isinstance(block, dict):
                own = author.user([block], parent=parent)
                again = make.call(str(block["tool_use_id"]), "Bash", {"command": "again"})
                author.assistant([again], author.message_id(), parent=own)
            else:
                author.user([make.result(author.call_id(), author.tag("stray"))])
        return author.user([block], parent=parent, toolUseResult={"stdout": "x"})

    def _result(self, own: str) -> Json:
        rng, words = self.rng, self.author.tag("result")
        shapes: list[Json] = [
            make.result(own, words),
            make.result(own, words, is_error=False),
            make.result(own, f"<tool_use_error>{words}</tool_use_error>", is_error=True),
            make.result(own, [make.text(words)]),
            make.result(own, [make.text(words), make.image()] if "image" in self.wanted else ""),
        ]
        return rng.choices(shapes, weights=(8, 3, 2, 2, 1))[0]

    def data(self) -> bytes:
        """The bytes of the file, with its damage."""
        rng, author = self.rng, self.author
        lines = [author.encode(line) for line in author.lines]
        for _ in range(rng.randint(1, 2)):
            if len(lines) > 4 and self.chance("deleted", 0.9):
                del lines[rng.randrange(len(lines))]
        for _ in range(rng.randint(1, 3)):
            if self.chance("doubled", 0.9):
                at = rng.randrange(len(lines))
                copy = _changed(lines[at]) if rng.random() < 0.3 else lines[at]
                lines.insert(rng.choice((at + 1, len(lines), rng.randint(at, len(lines)))), copy)
        ending = b"\n"
        if self.chance("torn", 0.9):
            at = rng.randrange(len(lines))
            torn = lines[at][: rng.randrange(1, len(lines[at]))]
            match rng.choice(("alone", "glued", "last")):
                case "alone":
                    lines[at] = torn
                case "glued" if at + 1 < len(lines):
                    lines[at : at + 2] = [torn + lines[at + 1]]
                case _:
                    lines[-1] = lines[-1][: rng.randrange(1, len(lines[-1]))]
                    ending = b""
        return b"\n".join(lines) + ending


def _changed(raw: bytes) -> bytes:
    """The same line with another text, as a message rewritten under its old uuid."""
    line = cast("dict[str, Json]", json.loads(raw))
    message = line.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    first = content[0] if isinstance(content, list) and content else None
    if isinstance(message, dict) and isinstance(content, str):
        message["content"] = f"{content} (changed)"
    elif isinstance(first, dict) and isinstance(first.get("text"), str):
        first["text"] = f"{first['text']} (changed)"
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode()
