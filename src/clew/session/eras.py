"""How each era of the client rebuilds a conversation, stated once as rules.

Every field was measured by resuming made files with that version and reading what it sent. A version
that was not measured follows the nearest measured one at or below it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal


@dataclass(frozen=True, slots=True)
class Rules:
    """What one version of the client does when it resumes a file."""

    version: str

    leaf: Literal["time", "order", "order-then-time"] = "time"
    """Which line the conversation ends in: the one with the greatest time (the first on a tie); the last
    of the file; or the last of the file and, where that has descendants, the newest of them."""

    leaf_may_be_sidechain: bool = False
    leaf_needs_time: bool = False
    """A leaf without a valid time is refused: "No conversation found"."""

    takes_empty_file: bool = False
    """A file of no bytes is a conversation of no messages."""

    survives_cycles: bool = False
    """Without, a cycle of parents hangs the client."""

    follows_last_prompt: bool = False
    bridges: bool = False
    """A parent that is not there is replaced by an earlier line of the file; else history ends there."""

    keeps_preserved: bool = False
    """What a compaction says it preserved is put back behind its summary."""

    recovers_parallel: bool = False
    """Lines of one message that hang beside the path are put back, with the results of their calls."""

    recovers_results: Literal["children", "anywhere"] = "children"
    """Which results are put back: those that hang on a line of the message, or any with the call's id."""

    merges_apart: bool = False
    """Lines of one message are merged even when results stand between them."""

    moves_calls_last: bool = False
    """The calls of an answer are sent behind everything else it says."""

    sends_local_command: bool = False
    drops_bare_thinking: bool = False
    """Messages of nothing but thinking, or of nothing but white space, are not sent."""

    drops_empty_lines: bool = False
    """A line whose text is empty is not sent; else only one whose text is white space."""

    orphan_results: Literal["keep", "drop", "note"] = "keep"
    """A result whose call is not sent: kept, dropped, or dropped leaving a note in its place."""

    notes_first_orphans: bool = False
    """A conversation that begins with results whose calls are gone begins with a note."""

    repeated_calls: Literal["keep", "note"] = "keep"
    """A second call under an id already used: kept, or replaced by a note."""

    renames: tuple[tuple[str, str], ...] = ()
    """Tools sent under the name they have now."""

    names_images: bool = False
    """In the place of an image in a prompt stands a word."""

    wraps_notifications: bool = False
    """What tells of a task in the background is sent as a reminder, and not as what a person said."""

    unsent_of_plans: frozenset[str] = frozenset()
    """What of the input of ExitPlanMode is for the user alone."""

    drops_foreign_thinking: bool = False
    """Thinking of a model other than the one asked is not sent."""

    asks_to_continue: Literal["never", "unless-error", "always"] = "never"
    """A conversation that ends in the midst of a turn, in a result or in what was attached to a prompt, is
    told to go on before the answer that nobody gave; once an API error counted as an answer here."""

    closes_interrupted: bool = False
    """Calls at the very end that never got a result are given one that says so; else they are dropped."""


_1_0_35: Final = Rules("1.0.35", leaf_may_be_sidechain=True)
_2_0_42: Final = Rules("2.0.42", takes_empty_file=True)
_2_0_76: Final = Rules("2.0.76", merges_apart=True, unsent_of_plans=frozenset({"plan"}))
_2_1_45: Final = replace(
    _2_0_76,
    version="2.1.45",
    survives_cycles=True,
    drops_bare_thinking=True,
    drops_empty_lines=True,
    orphan_results="drop",
    asks_to_continue="unless-error",
    names_images=True,
)
_2_1_88: Final = replace(
    _2_1_45,
    version="2.1.88",
    leaf_needs_time=True,
    keeps_preserved=True,
    recovers_parallel=True,
    sends_local_command=True,
    orphan_results="note",
    repeated_calls="note",
    renames=(("Task", "Agent"),),
    unsent_of_plans=frozenset({"plan", "planFilePath"}),
    asks_to_continue="always",
    names_images=False,
)
_2_1_150: Final = replace(
    _2_1_88,
    version="2.1.150",
    leaf="order",
    follows_last_prompt=True,
    bridges=True,
    moves_calls_last=True,
    drops_empty_lines=False,
    notes_first_orphans=True,
)
_2_1_220: Final = replace(
    _2_1_150, version="2.1.220", drops_foreign_thinking=True, unsent_of_plans=frozenset()
)
_2_1_325: Final = replace(
    _2_1_220,
    version="2.1.325",
    leaf="order-then-time",
    recovers_results="anywhere",
    drops_empty_lines=True,
    asks_to_continue="never",
    closes_interrupted=True,
    wraps_notifications=True,
)

MEASURED: Final = (_1_0_35, _2_0_42, _2_0_76, _2_1_45, _2_1_88, _2_1_150, _2_1_220, _2_1_325)
"""The versions that were measured, oldest first."""

MODEL: Final = "claude-sonnet-4-5-20250929"
"""The model the measurements asked for; assumed where a session does not say which it asked."""


def rules(client: str | None = None) -> Rules:
    """Return the rules of a version: the nearest measured one at or below it, the newest without."""
    if client is None:
        return MEASURED[-1]
    asked = version_key(client)
    best = MEASURED[0]
    for one in MEASURED:
        if version_key(one.version) <= asked:
            best = one
    return best


def version_key(version: str) -> tuple[int, ...]:
    """Return a version as numbers to compare by; parts that are no numbers count as 0."""
    return tuple(
        int(part) if part.isdecimal() else 0 for part in version.split("-", maxsplit=1)[0].split(".")
    )
