"""Secrets of many kinds, made up anew from a seed, and sessions in which they are planted in many places.

Nothing here is written out as a secret is: what identifies a kind is put together when it is made. And
nothing here is shared with what finds them: whether one is left is a search through the bytes.
"""

from __future__ import annotations

import base64
import json
import os
import string
from functools import cache
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from urllib.parse import quote, quote_plus
from zlib import crc32

from tests.builder import Builder, call, text, thinking

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits
ALNUM = string.digits + string.ascii_uppercase + string.ascii_lowercase
WORD = ALNUM + "_-"
BASE64 = ALNUM + "+/"


class Kind(NamedTuple):
    """A kind of secret."""

    name: str
    make: Callable[[Random], str]
    telling: str = "Use {} for it, please."
    """A text that tells that what stands in it is a secret."""

    lines: bool = False
    """It is written on several lines, each of which must go."""


def some(random: Random, alphabet: str, count: int) -> str:
    return "".join(random.choice(alphabet) for _ in range(count))


def after(start: str, alphabet: str, count: int, end: str = "") -> Callable[[Random], str]:
    """Make secrets that begin with a mark."""
    return lambda random: start + some(random, alphabet, count) + end


def of(*parts: str | tuple[str, int]) -> Callable[[Random], str]:
    """Make secrets of parts: words, and so many characters of an alphabet."""
    return lambda random: "".join(one if isinstance(one, str) else some(random, *one) for one in parts)


def summed(start: str) -> Callable[[Random], str]:
    """Make secrets that end in their checksum."""

    def make(random: Random) -> str:
        body = some(random, ALNUM, 30)
        rest, digits = crc32(body.encode()), ""
        for _ in range(6):
            digits = ALNUM[rest % 62] + digits
            rest //= 62
        return start + body + digits

    return make


def packed(data: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(data, separators=(",", ":")).encode()).decode().rstrip("=")


def jwt(random: Random) -> str:
    head, body = packed({"alg": "HS256", "typ": "JWT"}), packed({"sub": some(random, HEX, 12)})
    return f"{head}.{body}.{some(random, WORD, 42)}x"


def discord(random: Random) -> str:
    user = base64.b64encode(some(random, "123456789", 18).encode()).decode()
    return f"{user}.{some(random, ALNUM, 6)}.{some(random, ALNUM, 38)}"


def pem(kind: str, count: int) -> Callable[[Random], str]:
    def make(random: Random) -> str:
        body = [some(random, ALNUM, 1) + some(random, BASE64, 63) for _ in range(count)]
        mark = f"{kind} PRIVATE KEY".strip()
        dashes = "-" * 5
        end = some(random, ALNUM, 24)
        return "\n".join([f"{dashes}BEGIN {mark}{dashes}", *body, end, f"{dashes}END {mark}{dashes}"])

    return make


def password(random: Random) -> str:
    return (
        some(random, ALNUM, 6) + random.choice("23456789") + some(random, "!~*^", 1) + some(random, ALNUM, 5)
    )


def uuid(random: Random) -> str:
    return "-".join(some(random, HEX, count) for count in (8, 4, 4, 4, 12))


def mixed(alphabet: str, count: int) -> Callable[[Random], str]:
    """Make secrets that hold a letter of each case and a digit for certain."""
    return lambda random: "aB3" + some(random, alphabet, count - 3)


KINDS = (
    Kind("aws-key", after("AKIA", string.ascii_uppercase + "234567", 16)),
    Kind("aws-secret", mixed(BASE64, 40), "aws_secret_access_key = {}"),
    Kind("gcp-key", after("AIza", WORD, 34, "a")),
    Kind("google-oauth-secret", after("GOCSPX-", WORD, 27, "a")),
    Kind("google-oauth-token", after("ya29.", WORD, 60)),
    Kind(
        "azure-storage-key", after("", BASE64, 86, "=="), "DefaultEndpointsProtocol=https;AccountKey={};x=y"
    ),
    Kind("azure-client-secret", of((ALNUM, 3), "8Q~", (ALNUM, 34))),
    Kind("github-token", summed("ghp_")),
    Kind("github-fine-grained-token", of("github_pat_", (ALNUM, 22), "_", (ALNUM, 59))),
    Kind("github-app-token", summed("ghs_")),
    Kind("gitlab-token", after("glpat-", ALNUM, 20)),
    Kind("slack-token", of("xoxb-", ("123456789", 12), "-", (ALNUM, 24))),
    Kind(
        "slack-webhook",
        of("T", (UPPER, 8), "/B", (UPPER, 8), "/", (ALNUM, 24)),
        "curl https://hooks.slack.com/services/{}",
    ),
    Kind("stripe-key", after("sk_live_", ALNUM, 24)),
    Kind("openai-key", after("sk-proj-", WORD, 60, "aB3")),
    Kind("anthropic-key", after("sk-ant-api03-", WORD, 93, "AA")),
    Kind("huggingface-token", after("hf_", ALNUM, 34)),
    Kind("npm-token", summed("npm_")),
    Kind("pypi-token", after("pypi-AgEIcHlwaS5vcmc", WORD, 120)),
    Kind("twilio-key", after("SK", HEX, 32)),
    Kind("sendgrid-key", of("SG.", (WORD, 22), ".", (WORD, 42), "a")),
    Kind("mailgun-key", after("key-", HEX, 32)),
    Kind("telegram-token", of(("123456789", 10), ":AA", (WORD, 32), "a")),
    Kind("discord-token", discord, "discord login with {} now"),
    Kind("jwt", jwt),
    Kind("private-key", pem("RSA", 6), "Key:\n{}\n", lines=True),
    Kind("ssh-key", pem("OPENSSH", 4), "Key:\n{}\n", lines=True),
    Kind("pkcs8-key", pem("", 5), "Key:\n{}\n", lines=True),
    Kind("url-password", password, "git clone https://ada:{}@git.lighthouse.dev/x.git"),
    Kind("db-url", password, "DATABASE_URL=postgresql://app:{}@db.lighthouse.dev:5432/lamps"),
    Kind("bearer", mixed(ALNUM, 40), "Authorization: Bearer {}"),
    Kind("password", password, "db_password={}"),
    Kind("api-key", mixed(ALNUM, 32), '{{"api_key": "{}"}}'),
    Kind("datadog-key", after("", HEX, 32), "DD_API_KEY={}"),
    Kind("cloudflare-token", mixed(WORD, 40), "CLOUDFLARE_API_TOKEN={}"),
    Kind("digitalocean-token", after("dop_v1_", HEX, 64)),
    Kind("heroku-key", uuid, "HEROKU_API_KEY={}"),
    Kind("shopify-token", after("shpat_", HEX, 32)),
    Kind("square-token", after("sq0atp-", WORD, 22)),
    Kind("vault-token", after("hvs.", ALNUM, 90)),
    Kind("terraform-token", of((ALNUM, 14), ".atlasv1.", (ALNUM, 67))),
    Kind("doppler-token", after("dp.pt.", ALNUM, 43)),
    Kind("databricks-token", after("dapi", HEX, 32)),
    Kind("grafana-token", of("glsa_", (ALNUM, 32), "_", (HEX, 8))),
    Kind("linear-key", after("lin_api_", ALNUM, 40)),
    Kind("notion-token", after("ntn_", ALNUM, 43, "aB3")),
    Kind("figma-token", after("figd_", ALNUM, 40)),
    Kind("okta-token", after("00", ALNUM, 40), "Authorization: SSWS {}"),
    Kind("age-key", after("AGE-SECRET-KEY-1", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)),
)

PLACES = (
    "prompt string",
    "prompt block",
    "assistant text",
    "thinking",
    "tool input",
    "tool result string",
    "tool result block",
    "toolUseResult",
    "originalFile",
    "structuredPatch",
    "progress copy",
    "attachment",
    "last prompt",
    "title",
    "side file",
)


class Planted(NamedTuple):
    """A session and a file beside it, with texts planted in them."""

    data: bytes
    side: bytes


def plant(texts: Mapping[str, str], session: str = "s1") -> Planted:
    """Put texts in places by their names; where none is given there stands something harmless."""

    def at(place: str) -> str:
        return texts.get(place, f"calm {place}")

    patch = [f"+{line}" for line in at("structuredPatch").split("\n")]
    copy = {"type": "assistant", "message": {"id": "msg_9", "role": "assistant", "content": [
        text(at("progress copy")), call("toolu_9", "Bash", {"command": at("progress copy")}),
    ]}}  # fmt: skip
    edit = {"filePath": "/a", "oldString": "a", "newString": "b", "originalFile": at("originalFile")}
    hunk = {"oldStart": 1, "oldLines": 0, "newStart": 1, "newLines": len(patch), "lines": patch}
    queued = {"type": "queue-operation", "operation": "enqueue", "content": at("last prompt")}
    builder = (
        Builder(session)
        .line(queued | {"sessionId": session})
        .prompt(at("prompt string"))
        .answer(thinking(at("thinking"), "EqQB" * 20), text(at("assistant text")), call("toolu_1", "Bash", {
            "command": "ls", "env": {"deep": [1, {"er": at("tool input")}]},
        }))
        .result("toolu_1", at("tool result string"), toolUseResult={
            "stdout": at("toolUseResult"), "stderr": "", "interrupted": False,
        })
        .entry("progress", data={"type": "agent_progress", "message": copy}, toolUseID="toolu_1")
        .answer(call("toolu_2", "Edit", {"file_path": "/a"}))
        .result("toolu_2", [text(at("tool result block"))], toolUseResult=edit | {"structuredPatch": [hunk]})
        .entry("attachment", attachment={"type": "file", "filename": "/a", "content": at("attachment")})
        .answer("Done.")
        .prompt([text("And then?"), text(at("prompt block"))])
        .answer("Nothing more.")
    )  # fmt: skip
    leaf = builder.leaf
    builder.line({"type": "summary", "summary": at("title"), "leafUuid": leaf})
    builder.line({"type": "custom-title", "customTitle": at("title"), "sessionId": session})
    builder.line(
        {"type": "last-prompt", "lastPrompt": at("last prompt"), "leafUuid": leaf, "sessionId": session}
    )
    return Planted(builder.data(), at("side file").encode())


# A whole store ------------------------------------------------------------------------------------

SESSION = "6f1d3c52-0b7e-4c1a-9a51-0c9d4be2a7e1"
BESIDE = (
    "sub-agent",
    "tool results",
    "title file",
    "file history",
    "file history in JSON",
    "todo",
    "task",
    "sub-agent's description",
    "list of prompts",
)
"""Places in the files that belong to a session; a sub-agent's file has all those of a session."""


class Sown(NamedTuple):
    """A secret and where it was planted."""

    place: str
    kind: Kind
    secret: str


def sow(root: Path, seed: str = "") -> list[Sown]:
    """Make a config folder with one session, in all of whose files there is a secret of each kind."""
    sown: list[Sown] = []

    def words(place: str) -> str:
        mine = [Sown(place, kind, kind.make(Random(f"{seed} {place} {kind.name}"))) for kind in KINDS]
        sown.extend(mine)
        return "\n".join(one.kind.telling.format(one.secret) for one in mine)

    own = plant({place: words(place) for place in PLACES}, SESSION)
    agent = plant({place: words(f"sub-agent, {place}") for place in PLACES[:-1]}, SESSION)
    prompt = {"display": words("list of prompts"), "timestamp": 1, "sessionId": SESSION}
    project = root / "projects" / "-home-ada-lighthouse"
    files: dict[Path, bytes] = {
        project / f"{SESSION}.jsonl": own.data,
        project / SESSION / "subagents" / "agent-a1b2c3.jsonl": agent.data,
        project / SESSION / "subagents" / "agent-a1b2c3.meta.json": packed_json(
            {"agentType": "explore", "description": words("sub-agent's description")}
        ),
        project / SESSION / "tool-results" / "toolu_1.txt": own.side,
        project / SESSION / "custom-title.json": packed_json({"customTitle": words("title file")}),
        root / "file-history" / SESSION / "0a1b2c3d4e5f6071@v1": words("file history").encode(),
        root / "file-history" / SESSION / "1a1b2c3d4e5f6071@v1": packed_json(
            {"settings": [{"env": words("file history in JSON")}]}
        ),
        root / "todos" / f"{SESSION}-agent-{SESSION}.json": packed_json(
            [{"content": words("todo"), "status": "pending"}]
        ),
        root / "tasks" / SESSION / "1.json": packed_json({"id": "1", "subject": words("task")}),
        root / "history.jsonl": packed_json(prompt)
        + b"\n"
        + packed_json({"display": "calm", "sessionId": "another"})
        + b"\n",
    }
    for path, data in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        os.utime(path, (1_700_000_000, 1_700_000_000))
    return sown


def packed_json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


# Spellings a text may come in ---------------------------------------------------------------------


def cut(words: str, secret: str, joint: str) -> str:
    """Cut a secret in two where it stands."""
    half = len(secret) // 2
    return words.replace(secret, secret[:half] + joint + secret[half:])


def wrapped(words: str) -> str:
    return base64.encodebytes(words.encode()).decode()


FORMS: Mapping[str, Callable[[str, str], str]] = {
    "json once": lambda words, _secret: json.dumps({"note": words}),
    "json twice": lambda words, _secret: json.dumps({"note": json.dumps({"note": words})}),
    "address": lambda words, _secret: f"https://x.dev/?q={quote(words, safe='')}&z=1",
    "form": lambda words, _secret: f"q={quote_plus(words)}",
    "base64": lambda words, _secret: base64.b64encode(f"one >>? {words}\n".encode()).decode(),
    "base64 shifted": lambda words, _secret: base64.b64encode(f"a~{words}\n".encode()).decode(),
    "base64 shifted twice": lambda words, _secret: base64.b64encode(f"a~~{words}\n".encode()).decode(),
    "base64 for addresses": lambda words, _secret: base64.urlsafe_b64encode(
        f"??>{words}\n".encode()
    ).decode(),
    "base64 behind a path": lambda words, _secret: f"data/{base64.b64encode(f'{words} '.encode()).decode()}",
    "base64 on lines": lambda words, _secret: wrapped(f"some words before it, and then {words}\n"),
    "base64 in json": lambda words, _secret: json.dumps({"data": wrapped(f"words and then {words}\n")}),
    "quoted": lambda words, _secret: "echo '" + words.replace("'", "'\\''") + "'",
    "numbered": lambda words, _secret: "\n".join(
        f"{number:6}→{line}" for number, line in enumerate(words.split("\n"), 1)
    ),
    "page": lambda words, _secret: words.replace("&", "&amp;").replace('"', "&quot;"),
}

SPLITS: Mapping[str, str] = {
    "shell": "\\\n    ",
    "python": '"\n    "',
    "script": '" +\n  "',
    "same line": '" + "',
}


# Whether one is left ------------------------------------------------------------------------------


def spellings(secret: str) -> Iterator[bytes]:
    """Give what a secret may look like in a file."""
    data = secret.encode()
    yield data
    once = json.dumps(secret)[1:-1]
    yield from (once.encode(), json.dumps(once)[1:-1].encode(), quote(secret, safe="").encode())
    yield from (quote(secret).encode(), quote_plus(secret).encode(), data.hex().encode())
    for before, dropped in ((b"", 0), (b"?", 2), (b"??", 3)):
        whole = base64.b64encode(before + data).rstrip(b"=")
        # The last character may hold bits of what comes after.
        core = whole[dropped:-1]
        yield core
        yield core.replace(b"+", b"-").replace(b"/", b"_")


def parts(kind: Kind, secret: str) -> list[str]:
    """Return what must not be left of a secret: of several lines each."""
    if not kind.lines:
        return [secret]
    return [line for line in secret.split("\n") if len(line) > 20 and "-----" not in line]


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in cast("dict[str, Any]", value).items():
            yield name
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in cast("list[Any]", value):
            yield from strings(inner)


def left(data: bytes, kind: Kind, secret: str) -> list[bytes]:
    """Return the spellings of a secret that are in the bytes of a file, or in the strings of its lines."""
    hay = _hay(data)
    return [form for form in _forms(kind, secret) if form in hay]


def left_of(data: bytes, sown: Iterable[Sown]) -> list[Sown]:
    """Return the secrets of which any spelling is left: the same as `left`, for many of them at once."""
    hay = _hay(data)
    eights = {hay[at : at + 8] for at in range(len(hay) - 7)}
    return [
        one
        for one in sown
        if any(form[:8] in eights and form in hay for form in _forms(one.kind, one.secret))
    ]


@cache
def _forms(kind: Kind, secret: str) -> list[bytes]:
    return [form for part in parts(kind, secret) for form in spellings(part)]


def _hay(data: bytes) -> bytes:
    """Return the bytes of a file, and behind them the strings of its lines as they read."""
    lines = [line for line in data.split(b"\n") if line[:1] in (b"{", b"[")]
    return b"\0".join((data, *(one.encode() for line in lines for one in strings(_json(line)))))


def _json(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None
