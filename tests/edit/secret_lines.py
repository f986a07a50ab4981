"""Lines of sessions in which there may be secrets, in any spelling and half of one; made up from a seed."""

from __future__ import annotations

import base64
import html
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus

from tests.builder import Builder
from tests.edit.secrets_planted import ALNUM, KINDS, WORD, some

if TYPE_CHECKING:
    from random import Random

NOISE = (
    "the ", "value ", "\n", "foo(bar)", "path/to/file", "x = 1;", "→", "é", "日本", "\t", '"', "'", "\\",
    "`\n", "%", "&", "+", ":", "=", "=>", " is ", " was ", ",", "/home/dev/src/clew/x", "ToolUse", "{", "}",
    "\u2028", "\u00a0", "\u017f", "\u212a", "\u0131", "\u0130", "\x1b[0m", "&amp;", "%20", "\\x41", "\\u0041",
    "%02d", "%s", "msg_01AbCdEfGhIjKlMnOpQrStUv", "aGVsbG8gd29ybGQgdGhpcyBpcyBh", "token", "secret_key",
)  # fmt: skip
SETS = (
    "=", ": ", '": "', "':'", " is ", ", ", "=>", " := ", ': str = "', "`:`", "]=", "\n:\n", "\t=\t", "%3d",
    "&#61;", "+=+", "\u00a0=\u00a0", "\u2003=\u3000", ">",
)  # fmt: skip
NAMES = (
    "token", "secret", "credentials", "api_key", "private-key", "password", "pwd", "aws_key", "://ada",
    "key-", "heroku", "vault", "machine", "auth", "-u x", "--token", "sk", "pat", "dd_api", "client_secret",
    "bearer", "authorization", "redis", "eyJ", "-----BEGIN", "AKIA", "xox", "acca", "mailgun", "discord",
    "x-us",
)  # fmt: skip


def _atom(random: Random) -> str:
    dice = random.random()
    if dice < 0.3:
        kind = random.choice(KINDS)
        secret = kind.make(random)
        return kind.telling.format(secret) if dice < 0.2 else secret
    if dice < 0.5:
        value = some(random, WORD + "+/!@#$.~", random.randint(3, 60))
        return random.choice(NAMES) + random.choice(SETS) + random.choice(("", '"', "'")) + value
    return random.choice(NAMES if dice < 0.6 else NOISE)


def _spelled(random: Random, text: str) -> str:
    """Return a text in another spelling."""
    packed = base64.b64encode((some(random, ALNUM, random.randint(0, 3)) + text).encode()).decode()
    width = random.choice((56, 60, 64, 76))
    ways = (
        lambda: json.dumps(text)[1:-1],
        lambda: json.dumps(json.dumps(text, ensure_ascii=False))[1:-1],
        lambda: json.dumps(json.dumps(json.dumps(text)))[1:-1],
        lambda: quote(text, safe=""),
        lambda: quote_plus(text),
        lambda: html.escape(text),
        lambda: packed,
        lambda: packed.replace("/", "\\/"),
        lambda: packed.replace("/", "\\\\/").replace("+", "\\u002b"),
        lambda: packed.replace("+", "-").replace("/", "_").rstrip("="),
        lambda: random.choice(("\n", "\r\n", "\n  ")).join(
            packed[at : at + width] for at in range(0, len(packed), width)
        ),
        lambda: "".join(f"\\u{ord(one):04x}" if random.random() < 0.1 else one for one in text),
        lambda: "".join(
            "\\" * random.choice((1, 2, 4)) + one if random.random() < 0.05 else one for one in text
        ),
    )
    return random.choice(ways)()


def some_text(random: Random) -> str:
    """Return a text that may hold secrets."""
    parts: list[str] = []
    for _ in range(random.randint(1, 5)):
        part = _atom(random)
        for _ in range(random.choice((0, 0, 0, 1, 1, 2, 3))):
            part = _spelled(random, part)
        parts += (part, " plain words here" * random.choice((0, 0, 1, 3, 300)))
    return "".join(parts)


def some_session(random: Random, lines: int) -> bytes:
    """Return a session of so many prompts, each on a line."""
    builder = Builder("s1")
    for _ in range(lines):
        more: dict[str, Any] = {random.choice(("password", "token", "api_key", "note")): some_text(random)}
        builder.prompt(some_text(random), toolUseResult=more if random.random() < 0.4 else {})
    return builder.data()
