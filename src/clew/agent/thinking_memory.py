"""Remember thinking that was given out, and see whether it comes back as it was.

The signature of a thinking block covers its words and, on newer models, all that was said before it. Nobody
but the API can check one, so here they are remembered instead: those of the stand-in's own replies, and those
of requests that are known to be good. A signature never seen before is accepted.

What counts as said before a block are the messages: every block with its role, thinking too, in order. A
text alone is one block, messages of one role in a row are one, and `cache_control` does not count. The API
also binds a block to the system prompt and the tools; both are the client's own, differ from version to
version and say nothing about the session, so they are left out. So is what stands in the system's name amid
the messages: 2.1.325 puts hints there that it takes back a request later.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from clew.agent.api_shapes import Placed, Refusal, content, invalid

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_THINKING: Final = frozenset({"thinking", "redacted_thinking"})

_MODIFIED: Final = (
    "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These "
    "blocks must remain as they were in the original response."
)
_BOUND: Final = (
    "Invalid `signature` in `{kind}` block. The block is bound to a different conversation. Remove the "
    'block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block". That setting requires '
    "the `thinking-binding-controls-2026-08-01` value in the `anthropic-beta` header. {what}"
)
_NO_THINKING: Final = (
    "The `thinking` block that preceded this one when it was created is missing from this request."
)
_OTHER_MESSAGES: Final = "The `messages` before it differ from the ones this block was created with."


class _Before(NamedTuple):
    """Digests of what stands before a block."""

    all: bytes
    without_thinking: bytes


class _Thought(NamedTuple):
    place: Placed
    before: _Before

    @property
    def seal(self) -> str:
        """What tells one block from another: its signature, or the data of a redacted one."""
        return str(self.place.value.get("signature" if self.place.kind == "thinking" else "data"))

    @property
    def words(self) -> str:
        """What the seal is for."""
        return str(self.place.value.get("thinking", ""))


class ThinkingMemory:
    """The thinking that is known to be genuine, and what stood before it."""

    def __init__(self) -> None:
        self._known: dict[str, dict[str, set[_Before]]] = {}

    def learn(self, messages: Sequence[Mapping[str, object]], *, since: int = 0) -> None:
        """Take all thinking in these messages, from one on, for genuine, with just these messages before it.

        Give two thoughts two signatures: a signature that is known is refused with other words.
        """
        for thought in _thoughts(messages):
            if thought.place.message < since:
                continue
            self._known.setdefault(thought.seal, {}).setdefault(thought.words, set()).add(thought.before)

    def refusal(self, messages: Sequence[Mapping[str, object]], *, binds: bool) -> Refusal | None:
        """Say what the API would refuse about the thinking in these messages.

        With `binds` all that was said before a thinking block must be what it was, as on newer models;
        without, only its own words count.
        """
        answers = [at for at, message in enumerate(messages) if message.get("role") == "assistant"]
        latest = answers[-1] if answers else -1
        for thought in _thoughts(messages):
            words = self._known.get(thought.seal)
            if words is None:
                continue
            place, before = thought.place, words.get(thought.words)
            if before is None:
                is_latest = place.message == latest
                return invalid(
                    f"{place.path}: {_MODIFIED}"
                    if is_latest
                    else f"{place.path}: Invalid `signature` in `{place.kind}` block"
                )
            if binds and thought.before not in before:
                is_short = any(each.without_thinking == thought.before.without_thinking for each in before)
                what = _NO_THINKING if is_short else _OTHER_MESSAGES
                return invalid(f"{place.path}: {_BOUND.format(kind=place.kind, what=what)}")
        return None


def _thoughts(messages: Sequence[Mapping[str, object]]) -> Iterator[_Thought]:
    everything, rest = hashlib.blake2b(digest_size=16), hashlib.blake2b(digest_size=16)
    for at, message in enumerate(messages):
        if message.get("role") == "system":
            continue
        for n, value in enumerate(content(message)):
            if not isinstance(value, Mapping):
                continue
            block = Placed(at, n, cast("Mapping[str, object]", value))
            if block.kind in _THINKING:
                yield _Thought(block, _Before(everything.digest(), rest.digest()))
            written = _written(str(message.get("role")), block.value)
            everything.update(written)
            if block.kind not in _THINKING:
                rest.update(written)


def _written(role: str, block: Mapping[str, object]) -> bytes:
    """Write a block in one way, whatever the order of its fields, and without marks for the cache."""
    return json.dumps([role, _unmarked(block)], sort_keys=True).encode() + b"\n"


def _unmarked(value: object) -> object:
    """Copy a block without its mark; results hold blocks that may have their own."""
    if not isinstance(value, Mapping):
        return value
    block = {key: each for key, each in cast("Mapping[str, object]", value).items() if key != "cache_control"}
    inner = block.get("content")
    if isinstance(inner, list | tuple):
        block["content"] = [_unmarked(each) for each in cast("Sequence[object]", inner)]
    return block
