"""A session as one page that needs nothing else: its parts as data, and the renderer that draws them.

Facts and turns come first, then the renderer, then what was said, in chunks: a browser draws the top while
the rest of a long page is still being read. A chunk is what is drawn at once; beside it stands the same in
plain text, for where no script runs. Nothing on the page asks the network for anything; its policy says so.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import msgspec

from clew.export import html_plain as plain
from clew.export.html_gate import encode, guard, raw_json, text
from clew.view import parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from clew.export.options import Options
    from clew.export.story import Story
    from clew.view.parts import Flow, TurnHead
    from clew.view.timeline import TurnView

SCRIPT: Final = "assets/reader.js"
STYLE: Final = "assets/reader.css"

CHUNK_BYTES: Final = 96_000
CHUNK_ITEMS: Final = 50
"""What is drawn at once: about as much as a browser lays out in one frame."""

_LETTERS: Final = {
    parts.Prompt: "p", parts.Answer: "a", parts.Thinking: "t", parts.Call: "c", parts.Note: "n",
    parts.Rule: "r", parts.Notice: "w",
}  # fmt: skip


def write(story: Story, options: Options, /) -> Iterator[bytes]:
    """Give the page piece by piece."""
    yield from before(story, options)
    yield from turns(story, options, story.turns(), set())
    yield from after(story, options)


def before(story: Story, options: Options, /) -> Iterator[bytes]:
    """Give what stands before the turns."""
    script, style = story.assets.get(SCRIPT, b""), story.assets.get(STYLE, b"")
    yield opening(text(story.head.title or "Untitled session"), script, style, story.version)
    left_out = _left_out(story, options)
    yield b'<div id="app"></div>\n'
    facts = {
        "head": story.head,
        "version": story.version,
        "is_redacted": story.is_redacted,
        "redacted": dict(story.redacted),
        "left_out": left_out,
    }
    yield _block("facts", encode(facts))
    yield _block("turns", encode(story.heads))
    yield b"<script>%b</script>\n" % script
    secrets = "secrets were looked for and taken out" if story.is_redacted else "secrets were not looked for"
    notes = [f"{secrets}; made by clew {story.version}", *left_out]
    yield _noscript(plain.top(story.head, notes))


def turns(story: Story, options: Options, views: Iterable[TurnView], told: set[str], /) -> Iterator[bytes]:
    """Give some of the turns; sub-agents in `told` were told before, and those told here are put there."""
    page = _Chunks(story, options, told)
    for turn in views:
        yield from page.turn(turn)


def after(story: Story, _options: Options, /) -> Iterator[bytes]:
    """Give what stands after the turns."""
    # A story may still count what is taken out while it is read.
    yield _block("end", encode({"redacted": dict(story.redacted)}))
    yield b"</body>\n</html>\n"


def opening(title: str, script: bytes, style: bytes, version: str) -> bytes:
    """Return the head of a page whose only script and style are these; the title is text of the gate."""
    policy = (
        f"default-src 'none'; script-src '{fingerprint(script)}'; style-src '{fingerprint(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    lines = (
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        '<meta name="color-scheme" content="light dark">',
        f'<meta name="generator" content="clew {text(version)}">',
        f"<title>{title}</title>",
    )
    return "\n".join(lines).encode() + b"\n<style>%b</style>\n</head>\n<body>\n" % style


@lru_cache(maxsize=8)
def fingerprint(content: bytes) -> str:
    """Return how a policy names the very bytes of a script or a style."""
    return "sha256-" + b64encode(hashlib.sha256(content).digest()).decode()


def _block(name: str, content: bytes) -> bytes:
    return b'<script type="application/json" id="%b">%b</script>\n' % (name.encode(), content)


def _noscript(content: str) -> bytes:
    return b"<noscript>%b</noscript>\n" % content.encode() if content else b""


def _left_out(story: Story, options: Options) -> list[str]:
    said: list[str] = []
    if not options.with_thinking:
        said.append("thinking is left out")
    if not options.with_agents and story.head.agents:
        said.append("what sub-agents did is left out")
    if len(story.heads) < story.head.turns:
        said.append(f"{plain.counted(story.head.turns - len(story.heads), 'turn')} left out")
    return said


class _Chunks:
    """The turns in chunks, those of a sub-agent behind the turn that it was started in."""

    def __init__(self, story: Story, options: Options, told: set[str]) -> None:
        self._story = story
        self._options = options
        self._told = told

    def turn(self, view: TurnView, agent: str = "", started: str = "") -> Iterator[bytes]:
        """Give a turn, then the sub-agents that were started in it."""
        key = f"a-{agent}.t{view.head.n}" if agent else f"t{view.head.n}"
        chunk = _Chunk(view.head, key, agent, started)
        agents: list[tuple[str, str]] = []
        for item in view.flow():
            if isinstance(item, parts.Thinking) and not self._options.with_thinking:
                continue
            raw = raw_json(item)
            if chunk.is_full(len(raw)):
                yield chunk.written()
            chunk.add(item, raw)
            if isinstance(item, parts.Call | parts.Note):
                agents += [(one.agent_id, f"{key}.{chunk.count}") for one in item.agents]
        if chunk.items or not chunk.count:
            yield chunk.written()
        if self._options.with_agents:
            for agent_id, place in agents:
                yield from self._agent(agent_id, place)

    def _agent(self, agent_id: str, place: str) -> Iterator[bytes]:
        # One that two calls name is there once; a ring of sub-agents ends here too.
        if agent_id in self._told:
            return
        self._told.add(agent_id)
        for view in self._story.agent_turns(agent_id):
            yield from self.turn(view, agent_id, place)


class _Chunk:
    """Some items of a turn, until they are written."""

    def __init__(self, head: TurnHead, key: str, agent: str, started: str) -> None:
        self._head = head
        self._key = key
        self._agent = agent
        self._started = started
        self.count = 0
        """Items of the turn so far."""

        self._first = 0
        self._size = 0
        self.items: list[bytes] = []
        self._marks: list[str] = []
        self._plain: list[str] = []

    def is_full(self, more: int) -> bool:
        """Whether so many bytes are for the next chunk."""
        if not self.items:
            return False
        return len(self.items) >= CHUNK_ITEMS or self._size + more > CHUNK_BYTES

    def add(self, item: Flow, raw: bytes) -> None:
        """Take one item, and how it is written."""
        self.items.append(raw)
        self.count += 1
        self._size += len(raw)
        # How high it will be is guessed from how it is written: looking into it would take longer.
        lines = min(raw.count(b"\\n") + len(raw) // 90 + 1, 9999)
        self._marks.append(f"{_letter(item)}{lines}")
        if not self._agent:
            self._plain.append(plain.flow(item))

    def written(self) -> bytes:
        """Return the chunk, and begin the next."""
        named = f' data-a="{_attribute(self._agent)}" data-f="{_attribute(self._started)}"'
        head = "" if self._first else f' data-h="{_attribute(self._head)}"'
        told = named + head if self._agent else ""
        place = f'data-t="{self._head.n}" data-i="{self._first}" data-k="{" ".join(self._marks)}"{told}'
        data = guard(b"[%b]" % b",".join(self.items))
        script = b'<script type="application/json" class="chunk" %b>%b</script>\n' % (place.encode(), data)
        top = "" if self._agent or self._first else plain.turn_top(self._head, self._key)
        said = _noscript(top + "".join(self._plain))
        self._first, self._size = self.count, 0
        self.items, self._marks, self._plain = [], [], []
        return script + said


def _attribute(value: object) -> str:
    """A value as JSON in an attribute, in ASCII: unlike text it comes back as it was."""
    return text(json.dumps(msgspec.json.decode(raw_json(value))))


def _letter(item: Flow) -> str:
    if isinstance(item, parts.Call) and item.state == "failed":
        return "x"
    if isinstance(item, parts.Answer) and item.is_last:
        return "A"
    if isinstance(item, parts.Note) and item.is_meta:
        return "m"
    return _LETTERS[type(item)]
