"""Every damaged file of the tests, repaired by the command line and resumed by the real client.

What the client sends must be what `clew context` says of the result, a strict stand-in must refuse nothing,
and nothing may be lost but what the repair lists: that is judged by a reading of the lines of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import pytest

from clew.session.check import check
from clew.session.context import context
from clew.session.session import Session
from tests.builder import Builder, call, text, thinking
from tests.conformance.client import MODEL, PROMPT, resume
from tests.conformance.notation import normal, short, without_prompt
from tests.edit.test_repair import png, split, two_turns
from tests.edit.test_repair_laws import KINDS, damaged

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tests.conformance.client import Client

    Json = Mapping[str, Any]

DATA = Path(__file__).parents[1] / "data"
SESSION = "11111111-1111-4111-8111-111111111111"
SEEDS = 4


def recorded() -> Iterator[tuple[str, bytes]]:
    """Give the sessions of the tests, recorded and made."""
    places = [*DATA.glob("resume-cases/*/*.jsonl"), *DATA.glob("made/**/*.jsonl")]
    places += [*DATA.glob("corpus/*/*/projects/*/*.jsonl")]
    for path in sorted(places):
        if not path.name.startswith("agent-"):
            yield str(path.relative_to(DATA)), path.read_bytes()


def by_chance() -> Iterator[tuple[str, bytes]]:
    """Give made sessions that were damaged, each in one of all ways."""
    for kind in KINDS:
        for seed in range(SEEDS):
            yield f"{kind.__name__} of {seed}", damaged(seed, [kind], Random(seed))


def by_hand() -> Iterator[tuple[str, bytes | Builder]]:
    """Give one small session for each kind of damage that the others do not have."""
    one, two, three, four = split(two_turns())
    whole = two_turns().data()
    yield "torn at the end", whole + b'{"type":"user","uuid":"u9","mess'
    yield "torn and glued", one + two[:50] + three + four
    yield "glued", one + two.rstrip() + three + four
    yield "nuls", one + b"\0" * 300 + b"\n" + b"\0" * 300 + two + three.rstrip() + b"\0" * 9 + b"\n" + four
    yield "no object, too deep", one + b"[1]\n" + b'{"x":' + b"[" * 5000 + b"]" * 5000 + b"}\n" + two + four
    yield "a byte order mark and no last newline", b"\xef\xbb\xbf" + whole.rstrip(b"\n")
    yield "numbers that are no JSON", one.replace(b"{", b'{"odd":[NaN,-Infinity],', 1) + two + three + four
    yield "half a character", whole.replace(b"first", b"fir\\ud83dst")
    yield "no UTF-8", whole.replace(b"first", b"fi\xffst")
    yield "a circle", one + two + three.replace(b'"parentUuid":"u2"', b'"parentUuid":"u4"') + four
    yield "its own parent", one + two + three.replace(b'"parentUuid":"u2"', b'"parentUuid":"u3"') + four
    yield "two lines of one uuid", whole + four.replace(b"second", b"another")
    yield "no beginning", two + three + four
    yield "a missing parent", Builder().prompt("one").answer("first").rewind("gone").prompt("two").answer("x")
    yield "a root too many", two_turns().rewind(None).prompt("three")
    hint = {"type": "last-prompt", "lastPrompt": "try", "leafUuid": "u2", "sessionId": "s1"}
    stale = Builder().prompt("try").answer("no").rewind(None).prompt("one").answer("first", "more")
    yield "a hint left behind", stale.prompt("two").answer("second").line(hint)
    yield "a hint that names nothing", two_turns().line({**hint, "leafUuid": "gone"})
    for time in (..., "yesterday", "9999-01-01T00:00:00Z"):
        yield f"a time: {time}", Builder().prompt("one").answer("first", timestamp=time).prompt("two")
    yield "no time at all", Builder().prompt("one", timestamp=...).answer("first", timestamp=...)
    ask = Builder().prompt("one")
    yield "a call without a result", ask.answer(call("c1")).prompt("two").answer("second")
    some = Builder().prompt("one").answer(call("c1"), call("c2"), call("c3")).result("c1").result("c3")
    yield "one of three calls without a result", some.answer("done")
    yield "a result without a call", Builder().prompt("one").answer("first").result("c9").answer("second")
    again = Builder().prompt("one").answer(call("c1")).result("c1", "a").result("c1", "b")
    yield "two results", again.answer("done")
    yield "a result before its call", Builder().prompt("one").result("c1", "a").answer(call("c1")).answer("x")
    late = Builder().prompt("one").answer(call("c1")).answer("aside").result("c1", "a")
    yield "a result behind an answer", late.answer("done")
    used = Builder().prompt("one").answer(call("c1")).result("c1", "a").answer(call("c1", "Bash"))
    yield "an id used twice", used.result("c1", "b").answer("done")
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "a"}
    mixed = Builder().prompt("one").answer(call("c1")).user([text("two"), result])
    yield "words before a result", mixed.answer("done")
    yield "thinking without a signature", Builder().prompt("one").answer(thinking("how", ""), text("first"))
    refused = Builder().prompt("one").answer(thinking(""), text("first"))
    words = "API Error: 400 thinking blocks cannot be modified"
    yield "thinking without words", refused.answer(words, model="<synthetic>", isApiErrorMessage=True)
    yield "texts without words", Builder().prompt("one").answer(" ").prompt("").answer("x")
    empty = Builder().prompt("one").answer("first").user("", message={"role": "user", "content": []})
    yield "no content", empty.answer("x")
    heavy = Builder().prompt([png(9000, 20), text("one")]).answer(call("c1"))
    yield "pictures", heavy.result("c1", [png(100, 100, 5_300_000)]).answer("done")
    yield "many pictures", Builder().prompt([*[png(100, 20)] * 20, png(3000, 20), text("x")]).answer("y")


def damaged_files() -> list[tuple[str, bytes]]:
    """Return every file that something is wrong with, if somebody says something in it."""
    found: list[tuple[str, bytes]] = []
    for name, data in (*recorded(), *by_chance()):
        sent = context(Session.read(data))
        is_damaged = check(data).worst in {"error", "warning"} or sent.refused or sent.api_problems
        if is_damaged and texts(data):
            found.append((name, data))
    return [*found, *((name, one if isinstance(one, bytes) else one.data()) for name, one in by_hand())]


def texts(data: bytes) -> set[str]:
    """Return every text of people and models that can be read, on damaged lines too."""
    found: set[str] = set()
    for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        for record in records(line.decode("utf-8", "replace")):
            message = record.get("message")
            if "uuid" not in record:
                continue  # not of a client: none of them takes such lines for a conversation
            if record.get("type") in {"user", "assistant"} and isinstance(message, dict):
                found |= set(_texts(cast("Json", message).get("content")))
    return found


def _texts(content: object) -> Iterator[str]:
    blocks = cast("list[object]", content) if isinstance(content, list) else [content]
    for block in blocks:
        words = cast("Json", block).get("text") if isinstance(block, dict) else block
        if isinstance(words, str) and words.strip():
            yield "".join("\ufffd" if "\ud800" <= sign <= "\udfff" else sign for sign in words)


def records(line: str) -> Iterator[Json]:
    """Give the records of a line; on a damaged one those that are whole."""
    decoder = json.JSONDecoder()
    at = line.find('{"')
    while at >= 0:
        try:
            record, end = decoder.raw_decode(line, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            if "type" in record:
                yield record
            else:  # a part of one that is torn
                end = at + 1
        at = line.find('{"', end)


class Repaired(NamedTuple):
    """A file that was repaired."""

    data: bytes
    told: Json


def repaired(data: bytes) -> Repaired:
    """Repair a file by the command line."""
    with tempfile.TemporaryDirectory(prefix="clew-repair-") as folder:
        root = Path(folder) / "config"
        source = root / "projects" / "-home-ada-lighthouse" / f"{SESSION}.jsonl"
        source.parent.mkdir(parents=True)
        source.write_bytes(data)
        os.utime(source, (1, 1))  # else it is taken to be live
        done = subprocess.run(
            [sys.executable, "-m", "clew", "repair", str(source), "--json", "--root", str(root)],
            env={"HOME": folder, "PATH": os.environ.get("PATH", ""), "CLAUDE_CONFIG_DIR": str(root)},
            capture_output=True,
            check=False,
        )
        assert done.returncode in {0, 3}, f"exit {done.returncode}: {done.stderr.decode()[-400:]}"
        assert source.read_bytes() == data, "the source was touched"
        told = cast("Json", json.loads(done.stdout))
        if told["result"] is None:
            return Repaired(data, told)
        return Repaired(Path(told["result"]["path"]).read_bytes(), told)


def judged(client: Client, data: bytes) -> str | None:
    """Repair a file, let the client resume it, and say what is wrong with the result."""
    try:
        new, told = repaired(data)
    except AssertionError as error:
        return str(error)
    lost = texts(data) - texts(new)
    if lost:
        return f"lost: {sorted(lost)[:3]}"
    touched = {step["line"] for step in told["steps"]}
    lines = set(new.split(b"\n"))
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        is_record = bool([*records(line.decode("utf-8", "replace"))])
        if is_record and number not in touched and line not in lines and None not in touched:
            return f"line {number} has changed and nothing says so"
    sent = resume(client, new, strict=True)
    if sent.messages is None:
        return f"not resumed: {sent.refused}"
    if sent.refusals:
        return f"the API would refuse it: {sent.refusals[0]}"
    said = normal(context(Session.read(new), client=client.version, model=MODEL).messages)
    theirs = without_prompt(sent.messages, PROMPT)
    if theirs != said:
        return "\n".join(["not what clew context says", *(f"- {one}" for one in short(theirs))])
    return None if theirs else "nothing is sent"


def judge(client: Client, chosen: Sequence[tuple[str, bytes]]) -> None:
    """Check that all are resumed."""
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(partial(judged, client), [data for _, data in chosen]))
    bad = [f"{name}: {problem}" for (name, _), problem in zip(chosen, found, strict=True) if problem]
    print(f"\n{len(chosen) - len(bad)} of {len(chosen)} damaged files repaired and resumed")
    assert not bad, "\n".join(bad)


@pytest.mark.acceptance
def test_a_tenth_of_the_damaged_files_is_resumed_when_repaired(client: Client) -> None:
    chosen = damaged_files()[3::9]
    assert len(chosen) >= 12
    judge(client, chosen)


@pytest.mark.soak
def test_every_damaged_file_is_resumed_when_repaired(client: Client) -> None:
    chosen = damaged_files()
    assert len(chosen) > 120
    judge(client, chosen)
