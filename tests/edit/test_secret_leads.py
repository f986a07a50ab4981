"""A word that only tells of a secret counts where something sets it to a value, however that is spelled."""

from __future__ import annotations

import html
import json
import re
import time
from random import Random
from urllib.parse import quote

import pytest

from clew.edit.secret_glance import glance
from clew.edit.secret_leads import leads
from clew.edit.secret_words import has_words
from tests.edit.secrets_planted import ALNUM, some

NAMES = ("token", "api_key", "access-key", "client_secret", "SECRET_KEY_BASE", "credentials", "webhook_key")
SETS = ("=", ": ", '": "', "':'", " is ", " was ", "=>", " := ", ': str = "', "]='", "\n:\n", "` : `", ', "')
JOINTS = ('" +\n  "', "' + '", "\\\n  ", '"\n "', "`\n", "^\n", '" .\n"')


def spelled(random: Random, text: str) -> str:
    """Return a text in another spelling, in which its words can be read."""
    ways = (
        lambda: json.dumps(text),
        lambda: json.dumps(json.dumps(text))[1:-1],
        lambda: quote(text, safe="-_"),
        lambda: html.escape(text),
        lambda: re.sub("[=:'\"]", lambda mark: f"\\u{ord(mark[0]):04x}", text),
        lambda: text.replace("=", "&#61;").replace('"', "&quot;"),
        lambda: text.replace("_", "\\_"),
    )
    return random.choice(ways)()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("set_to", SETS)
def test_a_name_that_is_set_counts_in_every_spelling(name: str, set_to: str) -> None:
    random = Random(f"{name} {set_to}")
    for times in (0, 0, 1, 1, 2, 3):
        value = some(random, ALNUM, random.randint(12, 40))
        if not times:
            at = random.randrange(1, 12)
            value = value[:at] + random.choice((*JOINTS, "")) + value[at:]
        text = f"the {name}{set_to}{value}"
        for _ in range(times):
            text = spelled(random, text)
        assert has_words(text), text
        assert glance(json.dumps({"v": text}).encode(), [0]), text


@pytest.mark.parametrize(
    "text",
    [
        "if token is None and maple > 0.12:",
        'tokens = {"token": {"kind": "word"}}',
        "primary_key = Column(Integer, autoincrement=True)",
        "cache_key: str = build_the_key_of_it(request)",
        "the secret of it all, said nobody",
        "- key-value pairs and key-bindings",
        "credentials are needed: ask for them",
        'token = next(found)\nif token == "if":\n',
        "secrets.token_hex, secrets.choice",
    ],
)
def test_one_that_is_set_to_nothing_does_not(text: str) -> None:
    assert not has_words(text)
    assert not glance(json.dumps({"v": text}).encode(), [0])


@pytest.mark.parametrize(
    "filler", ["n", "\\", '"', " ", "\\n", "'+", "a.", "\\u", "^", '"\\t', "x ", ".", "\t'"]
)
def test_no_text_takes_long(filler: str) -> None:
    """Fifty words with 400 letters behind each; they take a hundredth of a second."""
    for far in ("", "\x80-\xff"):
        patterns = {word: re.compile(pattern) for word, pattern in leads(far).items()}
        for word, pattern in patterns.items():
            for mark in ("=", ":", "", ": n"):
                text = f"{word}{mark}{(filler * 400)[:400]}"
                whole = text * 50
                started = time.process_time()
                for at in range(0, len(whole), len(text)):
                    pattern.match(whole, at + len(word))
                assert time.process_time() - started < 0.25, (word, mark)
