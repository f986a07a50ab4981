"""How a client of a given version shapes its lines: for the demo's made-up sessions.

Only what a reader can tell the versions apart by: the order of the fields, which of them exist, and what was
known when a line was flushed. See the format reference for the rules themselves.
"""

from __future__ import annotations

import base64
import difflib
import hashlib
import json
import uuid
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

Json = dict[str, "Value"]
Value = str | int | float | bool | list["Value"] | Json | None
Era = tuple[int, int, int]

# Dollars for a million tokens: input, output, cache written, cache read. For the client's own cost line only;
# what clew says a session cost comes from its price table.
_PRICES = {"claude-sonnet-4-5-20250929": (3.0, 15.0, 3.75, 0.30)}


def era(version: str) -> Era:
    """A version as numbers that compare; a file that names none is older than all."""
    parts = [int(part) for part in version.split(".") if part.isdigit()]
    major, minor, patch = (*parts, 0, 0, 0)[:3]
    return (major, minor, patch)


def envelope(
    era: Era,
    chain: Json,
    body: Json,
    stamp: Json,
    last: Json,
    *,
    cwd: str,
    session: str,
    version: str,
    more: Json,
) -> Json:
    """A line of the conversation, its fields in the order in which that version writes them."""
    where: Json = {"userType": "external"}
    if era >= (2, 1, 80):
        where["entrypoint"] = "cli"
    where |= {"cwd": cwd, "sessionId": session, "version": version}
    if era >= (1, 0, 128):
        where["gitBranch"] = more.get("branch") or "main"
    if more.get("slug") and era >= (2, 0, 76):
        where["slug"] = more["slug"]
    if era >= (2, 1, 80):
        return {**chain, **body, **stamp, **last, **where}
    return {**chain, **where, **body, **stamp, **last}


def prompt_fields(era: Era, *, turn: int) -> Json:
    """What a line says that a person typed."""
    fields: Json = {}
    if era >= (2, 1, 29):
        fields["permissionMode"] = "default"
    if era >= (2, 1, 220):
        fields["promptSource"] = "typed"
    if era >= (2, 1, 325):
        fields["turnOrigin"] = "human"
        fields["turnPosition"] = {"promptIndex": 0, "turnIndex": turn}
    return fields


def stop_reason(era: Era, stop: str, *, is_last: bool) -> str | None:
    """What had been known of the message's end when one of its lines was flushed."""
    if (2, 1, 29) <= era <= (2, 1, 45):
        return None
    waits = era < (2, 0, 37) or (2, 0, 50) <= era <= (2, 0, 76) or (2, 1, 80) <= era <= (2, 1, 88)
    return None if waits and not is_last else stop


def usage(era: Era, *, fresh_input: int, written: int, read: int, output: int) -> Json:
    """The tokens of a message."""
    details: Json = {"ephemeral_5m_input_tokens": written, "ephemeral_1h_input_tokens": 0}
    counts: Json = {
        "input_tokens": fresh_input,
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": read,
    }
    if era < (2, 1, 45):
        return {**counts, "cache_creation": details, "output_tokens": output, "service_tier": "standard"}
    return {
        **counts,
        "output_tokens": output,
        "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
        "service_tier": "standard",
        "cache_creation": details,
        "inference_geo": "",
        "iterations": [],
        "speed": "standard",
    }


def usage_on_line(era: Era, usage: Json, *, is_last: bool) -> Json:
    """The tokens as one line of a message gives them; some versions knew only the stream's first event."""
    if (2, 1, 29) <= era <= (2, 1, 88) and not is_last:
        return {**usage, "output_tokens": 3}
    return usage


def cost(spent: Mapping[str, Sequence[int]]) -> Json:
    """The client's account by model, from (input, output, cache written, cache read)."""
    by_model: Json = {}
    total = 0.0
    for model, tokens in spent.items():
        dollars = round(sum(n * price for n, price in zip(tokens, _PRICES[model], strict=True)) / 1e6, 8)
        total += dollars
        by_model[model] = {
            "inputTokens": tokens[0],
            "outputTokens": tokens[1],
            "thinkingTokens": 0,
            "cacheReadInputTokens": tokens[3],
            "cacheCreationInputTokens": tokens[2],
            "cacheCreationEphemeral5mInputTokens": tokens[2],
            "cacheCreationEphemeral1hInputTokens": 0,
            "webSearchRequests": 0,
            "costUSD": dollars,
        }
    return {"totalCostUSD": round(total, 8), "modelUsage": by_model, "hasUnknownModelCost": False}


def read_outcome(era: Era, path: str, text: str) -> tuple[Value, Value]:
    """What reading a file gives, for the model and as the client keeps it."""
    lines = text.split("\n")
    numbered = "\n".join(
        f"{n}\t{line}" if era >= (2, 1, 150) else f"{n:>6}→{line}" for n, line in enumerate(lines, 1)
    )
    size: Json = {"numLines": len(lines), "startLine": 1, "totalLines": len(lines)}
    return numbered, {"type": "text", "file": {"filePath": path, "content": text, **size}}


def patch(before: str, after: str) -> list[Json]:
    """A change as the client keeps it: hunks with three lines around them."""
    old, new = before.splitlines(), after.splitlines()
    hunks: list[Json] = []
    for group in difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(3):
        lines: list[Value] = []
        for tag, a, b, c, d in group:
            if tag == "equal":
                lines += [f" {line}" for line in old[a:b]]
            else:
                lines += [f"-{line}" for line in old[a:b]]
                lines += [f"+{line}" for line in new[c:d]]
        (_, a, _, c, _), (_, _, b, _, d) = group[0], group[-1]
        hunk: Json = {"oldStart": a + 1, "oldLines": b - a, "newStart": c + 1, "newLines": d - c}
        hunks.append({**hunk, "lines": lines})
    return hunks


def uuid_of(name: str) -> str:
    """The uuid of a thing by its name: always the same, and like any other."""
    return str(uuid.UUID(bytes=hashlib.sha256(f"clew demo: {name}".encode()).digest()[:16], version=4))


def token_of(name: str, length: int) -> str:
    """Letters and digits that look as random as the API's ids do, always the same for a name."""
    digest = base64.b64encode(hashlib.sha512(name.encode()).digest()).decode()
    return "".join(char for char in digest if char.isalnum())[:length]


def iso(moment: datetime) -> str:
    """A time as the client writes it."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def compact(line: Json) -> str:
    """A line as the client writes it: no blanks, letters as they are."""
    return json.dumps(line, ensure_ascii=False, separators=(",", ":"))
