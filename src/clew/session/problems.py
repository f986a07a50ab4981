"""What can be wrong with a session, by code: how bad it is, and how `clew repair` would mend it.

The codes are stable: scripts rely on them. `clew.session.check` finds the problems.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

Severity = Literal["info", "warning", "error"]

Code = Literal[
    "torn-line",
    "being-written",
    "spliced",
    "glued",
    "nul-run",
    "garbage",
    "not-a-record",
    "too-deep",
    "too-long",
    "large-record",
    "invalid-utf8",
    "lone-surrogate",
    "nan",
    "huge-number",
    "duplicate-keys",
    "bom",
    "crlf",
    "missing-newline",
    "missing-parent",
    "cycle",
    "duplicate-uuid",
    "conflicting-uuid",
    "unpaired-call",
    "unpaired-result",
    "duplicate-result",
    "result-order",
    "thinking-unsigned",
    "thinking-empty",
    "oversized-image",
    "empty-text-block",
    "bad-timestamp",
    "missing-timestamp",
    "time-out-of-order",
    "unknown-type",
    "many-session-ids",
    "name-differs",
    "dangling-logical-parent",
    "dangling-leaf",
    "api-error-last",
    "unreachable",
    "not-resumable",
]


class Kind(NamedTuple):
    """What a code stands for."""

    severity: Severity
    meaning: str
    repair: str | None
    """How `clew repair` would mend it; None where there is nothing to mend, or no safe way."""


_ASIDE: Final = "keeps the bytes in a file aside and leaves them out"

KINDS: Final[Mapping[Code, Kind]] = {
    # The bytes.
    "torn-line": Kind("error", "a line ends in the middle of a record", _ASIDE),
    "being-written": Kind("info", "the last line is still being written", None),
    "spliced": Kind("error", "a torn record with another one behind it on the same line", _ASIDE),
    "glued": Kind("error", "two records on one line, which the client skips", "puts each on its own line"),
    "nul-run": Kind("error", "a run of NULs, as a crash leaves behind", _ASIDE),
    "garbage": Kind("error", "bytes that are no record", _ASIDE),
    "not-a-record": Kind("error", "JSON, but no object", _ASIDE),
    "too-deep": Kind("error", "nested deeper than any reader goes", _ASIDE),
    "too-long": Kind("error", "a line too long to be read", _ASIDE),
    "large-record": Kind("warning", "a record of many megabytes", None),
    "invalid-utf8": Kind("warning", "bytes that are no UTF-8", "writes U+FFFD in their place"),
    "lone-surrogate": Kind("error", "half a character, which the API refuses", "writes U+FFFD in its place"),
    "nan": Kind("error", "NaN or Infinity: no JSON, the client skips the line", "writes null instead"),
    "huge-number": Kind("info", "a number larger than any that can be held", None),
    "duplicate-keys": Kind("warning", "a key twice in one object; the last one counts", None),
    "bom": Kind("info", "a byte order mark at the start of the file", "takes it out"),
    "crlf": Kind("info", "lines end in CR LF", None),
    "missing-newline": Kind(
        "warning", "no newline at the end: clients before 2.1.325 glue their next line to it", "adds it"
    ),
    # The graph.
    "missing-parent": Kind(
        "warning", "the parent is not in the file: clients up to 2.1.88 lose what is above", "links it anew"
    ),
    "cycle": Kind(
        "error", "parents in a circle: old clients hang", "hangs the first of them on the line before"
    ),
    "duplicate-uuid": Kind("info", "the same line more than once", "keeps one of them"),
    "conflicting-uuid": Kind(
        "error",
        "several lines with one uuid; the last one counts",
        "gives the earlier ones new uuids, or leaves out those that say nothing else",
    ),
    "dangling-logical-parent": Kind("info", "a compaction that follows a line not in the file", None),
    "dangling-leaf": Kind("info", "a leafUuid that names no line of the file", "names the end instead"),
    "unreachable": Kind("warning", "most of the conversation is not on the path to its end", "links it anew"),
    # The conversation.
    "unpaired-call": Kind("warning", "a tool call without a result", "adds an error result behind it"),
    "unpaired-result": Kind("warning", "a tool result without a call", "leaves the result out"),
    "duplicate-result": Kind("warning", "a second result for the same call", "keeps the first of them"),
    "result-order": Kind("warning", "a tool result before its call", "moves it behind the call"),
    "thinking-unsigned": Kind("warning", "thinking without a signature", "leaves the block out"),
    "thinking-empty": Kind("info", "thinking without words", "leaves it out with --drop-empty-thinking"),
    "oversized-image": Kind(
        "error", "an image larger than the API takes", "saves it aside and puts a text in its place"
    ),
    "empty-text-block": Kind(
        "warning", "a text without words, which the API refuses", "leaves it out; a prompt says (no content)"
    ),
    "api-error-last": Kind("info", "the conversation ends in an API error", None),
    "not-resumable": Kind("error", "the client would refuse to resume", None),
    # The rest.
    "bad-timestamp": Kind("warning", "a time that cannot be read", "takes the time before it"),
    "missing-timestamp": Kind("warning", "a line of the chain without a time", "takes the time before it"),
    "time-out-of-order": Kind("info", "lines older than the line before them", None),
    "unknown-type": Kind("info", "a type of line clew does not know", None),
    "many-session-ids": Kind("info", "lines of several sessions in one file", None),
    "name-differs": Kind("info", "the file is not named after the session in it", None),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Problem:
    """Something odd in a session that reading survived."""

    code: Code
    severity: Severity
    line: int | None
    """The line, from 1; None for what concerns the whole file."""

    offset: int | None
    length: int | None
    detail: str
    repair: str | None


def problem(
    code: Code,
    detail: str = "",
    *,
    line: int | None = None,
    offset: int | None = None,
    length: int | None = None,
    severity: Severity | None = None,
) -> Problem:
    """Make a problem; what it means, how bad it is and how to mend it come with the code."""
    kind = KINDS[code]
    words = f"{kind.meaning}: {detail}" if detail else kind.meaning
    return Problem(code, severity or kind.severity, line, offset, length, words, kind.repair)
