"""What a trim saves, judged by the API's own count of what the real client sends."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import urllib.request
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import pytest

from clew.agent.standin import StandIn
from tests.conformance.author import MODEL, Author, call, result, text
from tests.conformance.client import PROMPT, resume
from tests.conformance.notation import without_prompt

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from tests.conformance.client import Client
    from tests.conformance.notation import Json

pytestmark = pytest.mark.acceptance

TURNS = 200
NEAR = 0.05
"""How far the figures of clew may be from the count."""

_WORDS = re.findall(
    r"\w+",
    """the a of to and in it is that for on was with as at by this from be are not have which one all were
    when there can an your each their time will other about out many then them these some would make
    like into has two more write see number way could people than first water been call who its now find
    long down lighthouse lantern keeper schedule maintenance configuration request connection database
    migration function parameter returned unexpected exception directory repository temporary
    performance""",
)
_CODE = (
    "    def {0}_{1}(self, {2}: int = {n}) -> str:\n",
    "        return self._{0}.{1}({2}, timeout={n})\n",
    '        if {0} is None or len({1}) > {n}:\n            raise ValueError(f"{2} is missing")\n',
    "    for {0} in sorted({1}.items(), key=lambda pair: pair[{n}]):\n",
    "# {0} {1} {2}: {0} before {1}\n",
)
_LOG = (
    "2026-03-01T10:{m}:{s}.{n}Z INFO  {0}.{1} - {2} took {n} ms\n",
    "-rw-r--r-- 1 user user {n}{s} Mar  1 10:{m} {0}_{1}.py\n",
    "/home/user/project/src/{0}/{1}.py:{n}: {2} {0} {1}\n",
    '{{"{0}": {n}, "{1}": "{2}", "id": "{0}-{n}"}}\n',
)


def prose(rng: Random, tokens: int) -> str:
    """Write sentences of about so many tokens."""
    words = rng.choices(_WORDS, k=max(1, tokens * 4 // 5))
    for at in range(0, len(words), 12):
        words[at] = words[at].capitalize()
        words[at - 1] += "." if at else ""
    return " ".join(words)


def output(rng: Random, tokens: int) -> str:
    """Write what a tool may give back: code, a log or prose, of about so many tokens."""
    kind = rng.choice((_CODE, _LOG, None))
    if kind is None:
        return prose(rng, tokens)
    lines: list[str] = []
    while sum(map(len, lines)) < tokens * 3:
        names = rng.choices(_WORDS, k=3)
        clock = {"m": f"{rng.randrange(60):02d}", "s": f"{rng.randrange(60):02d}", "n": rng.randrange(1, 900)}
        lines.append(rng.choice(kind).format(*names, **clock))
    return "".join(lines)


def long_session(seed: int) -> bytes:
    """Make a session of many turns, most with calls whose results are of 50 to 3,000 tokens."""
    rng = Random(seed)
    author = Author(rng)
    for _ in range(TURNS):
        author.user(prose(rng, rng.randint(10, 120)), permissionMode="default")
        for _ in range(rng.choice((0, 1, 1, 2, 3))):
            message, own = author.message_id(), author.call_id()
            if rng.random() < 0.5:
                author.assistant([text(prose(rng, rng.randint(10, 60)))], message)
            arguments: dict[str, Json] = {"command": f"cat {' '.join(rng.choices(_WORDS, k=3))}"}
            author.assistant([call(own, "Bash", arguments)], message)
            # Most results are short and a few are long, as in life.
            words = output(rng, int(50 * 60 ** rng.random()))
            author.user([result(own, words)], toolUseResult={"stdout": words, "stderr": ""})
        author.assistant([text(prose(rng, rng.randint(20, 300)))], author.message_id())
    return b"\n".join(author.encode(line) for line in author.lines) + b"\n"


class Trimmed(NamedTuple):
    """A session before a trim and after it, and what the trim said."""

    old: bytes
    new: bytes
    told: Mapping[str, Any]


def trimmed(folder: Path, data: bytes, *options: str) -> Trimmed:
    """Trim a session by the command line."""
    project = folder / "config" / "projects" / "-home-user-project"
    project.mkdir(parents=True)
    source = project / "11111111-1111-4111-8111-111111111111.jsonl"
    source.write_bytes(data)
    os.utime(source, (1, 1))  # else it is taken to be live
    root = str(folder / "config")
    done = subprocess.run(
        [sys.executable, "-m", "clew", "trim", str(source), *options, "--json", "--root", root],
        env={"HOME": str(folder), "PATH": os.environ.get("PATH", ""), "CLAUDE_CONFIG_DIR": root},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    told = cast("dict[str, Any]", json.loads(done.stdout))
    assert source.read_bytes() == data
    with open(told["result"]["path"], "rb") as file:  # noqa: PTH123 (a name out of the answer)
        return Trimmed(data, file.read(), told)


def said(data: bytes) -> list[tuple[str, str]]:
    """Read the prompts and the words of answers out of a file, with nothing of clew."""
    found: list[tuple[str, str]] = []
    for line in data.splitlines():
        record: Any = json.loads(line)
        if record["type"] not in {"user", "assistant"}:
            continue
        content = record["message"]["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        found += [(record["uuid"], block["text"]) for block in blocks if block["type"] == "text"]
    return found


def counted(messages: Iterable[Mapping[str, object]]) -> int:
    """Ask the stand-in how many tokens messages are."""
    body = json.dumps({"model": MODEL, "messages": [*messages]}).encode()
    with StandIn(strict=True, needs_tools=False) as api:
        request = urllib.request.Request(f"{api.url}/v1/messages/count_tokens", body)
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)["input_tokens"]


def off(figure: int, count: int) -> float:
    """Say by which part a figure is off."""
    return figure / count - 1


def test_results_that_are_trimmed_halve_what_is_sent_and_every_word_stays(
    client: Client, tmp_path: Path
) -> None:
    trim = trimmed(tmp_path, long_session(1), "--results-only", "--larger-than", "200")
    assert len(said(trim.old)) > 2 * TURNS
    assert said(trim.new) == said(trim.old)

    def sent(data: bytes) -> Sequence[Mapping[str, object]]:
        found = resume(client, data, strict=True)
        assert found.messages is not None, found.refused
        assert not found.refusals, found.refusals[0]
        return without_prompt(found.messages, PROMPT)

    before, after = counted(sent(trim.old)), counted(sent(trim.new))
    figures = trim.told["context_tokens_before"], trim.told["context_tokens_after"]
    print(f"\nsent: {before:,} tokens, then {after:,}; said: {figures[0]:,}, then {figures[1]:,}")
    assert after <= before / 2
    assert abs(off(figures[0], before)) <= NEAR, f"before: {off(figures[0], before):+.1%}"
    assert abs(off(figures[1], after)) <= NEAR, f"after: {off(figures[1], after):+.1%}"
