"""What is passed over at a glance holds no secret, and all that was found line by line is found."""

from __future__ import annotations

import base64
import json
import re
import sys
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.edit import secret_depths, secret_glance, secret_rows
from clew.edit.known_secrets import Secrets
from clew.edit.redact import gather, redact
from clew.edit.secret_cleaner import Cleaner
from clew.edit.secret_forms import may_hold, sight
from clew.edit.secret_glance import base64_at, glance
from clew.edit.secret_rules import REDACTED, RULES
from clew.edit.secret_words import WORDS
from clew.session.session import Session
from tests.edit import laws
from tests.edit.redactions import KEY, each_kind, written
from tests.edit.secret_lines import some_session, some_text
from tests.edit.secrets_planted import FORMS, PLACES, plant, strings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from clew.edit.secret_forms import Sight
    from tests.edit.secrets_planted import Kind


def told(data: bytes) -> tuple[Any, ...]:
    """Return all that comes of a session: what is known, what each line was taken for, and the new file."""
    session = Session.read(data)
    known = gather(session)
    sights = bytes(known.sights[session])
    return known.values, known.seen, sights.count(3), written(redact(session, key=KEY, known=known))


def told_slowly(data: bytes) -> tuple[Any, ...]:
    """Return the same without a glance: each line is looked at by itself."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(secret_rows, "is_quick", lambda: False)
        return told(data)


def tried_everywhere(text: str) -> Iterator[str]:
    """Give what any rule finds at any place of a text, with nothing asked before."""
    for rule in RULES:
        for at in range(len(text)):
            match = rule.pattern.match(text, at)
            if match is None:
                continue
            value = match.group(match.lastindex or 0)
            value = value.rstrip(".,:;!?)]}»”’…") if rule.is_told else value
            if rule.is_secret(value) and not REDACTED.search(value) and not re.search(r"[\x00-\x1f]", value):
                yield value


def seen_in(lines: list[bytes]) -> list[str]:
    """Return what each line is taken for: plain and clean ones are passed over."""
    starts = [sum(len(line) + 1 for line in lines[:at]) for at in range(len(lines))]
    seen = glance(b"\n".join(lines), starts)
    return [
        "plain"
        if at not in seen
        else "clean"
        if seen[at] == {"read"} or ("more" not in seen[at] and secret_depths.is_clean(line))
        else "seen"
        for at, line in enumerate(lines)
    ]


@pytest.mark.parametrize("seed", range(6))
def test_all_comes_out_as_line_by_line(seed: int) -> None:
    data = some_session(Random(f"glance {seed}"), 24)
    assert told(data) == told_slowly(data)


@each_kind
def test_every_kind_in_every_place_comes_out_as_line_by_line(kind: Kind) -> None:
    random = Random(f"glance {kind.name}")
    secret = kind.make(random)
    words = kind.telling.format(secret)
    forms = list(FORMS.values())
    random.shuffle(forms)
    texts = {place: form(words, secret) for place, form in zip(PLACES, forms, strict=False)}
    data = plant({"prompt string": words, **texts}).data
    assert told(data) == told_slowly(data)
    assert told(data)[1]


def test_sessions_of_real_clients_come_out_as_line_by_line() -> None:
    for path in laws.corpus():
        session = Session.read(path.read_bytes())
        quick = gather(session)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(secret_rows, "is_quick", lambda: False)
            slow = gather(session)
        assert (quick.values, quick.seen) == (slow.values, slow.seen), path


@given(st.randoms(use_true_random=False))
@settings(max_examples=20)
def test_a_line_is_passed_over_only_where_no_secret_is_seen(random: Random) -> None:
    lines = [
        json.dumps(
            {"v": some_text(random), "w": random.random()}, ensure_ascii=random.random() < 0.5
        ).encode()
        for _ in range(12)
    ]
    for line, taken in zip(lines, seen_in(lines), strict=True):
        slowly = sight(line.decode())
        assert taken == "seen" or slowly in {"plain", taken}, line


@given(st.randoms(use_true_random=False))
@settings(max_examples=15)
def test_no_rule_finds_anything_at_any_place_of_what_is_passed_over(random: Random) -> None:
    texts = [some_text(random)[:400] for _ in range(6)]
    lines = [json.dumps({"v": text}, ensure_ascii=False).encode() for text in texts]
    for line, taken in zip(lines, seen_in(lines), strict=True):
        if taken != "seen":
            for text in (line.decode(), *strings(json.loads(line))):
                assert not list(tried_everywhere(text)), line


@each_kind
def test_no_depth_of_escapes_hides_a_kind_from_a_clean_line(kind: Kind) -> None:
    """Beside a word that is none, so that only the look without backslashes stands between."""
    for seed in range(3):
        text = kind.telling.format(kind.make(Random(f"{kind.name} {seed}")))
        for _ in range(4):
            text = json.dumps(text)
            line = f'{{"pwd":"x","v":{text}}}'.encode()
            if sight(line.decode()) == "suspect":
                assert not secret_depths.is_clean(line), line


@pytest.mark.parametrize("joint", ["\\\n  ", '"\n  "', '" + "', "'\n  '", "' + '", "`\n", "^\n", '" .\n"'])
def test_a_word_that_a_line_cuts_in_two_is_seen(joint: str) -> None:
    line = json.dumps({"v": f"let it = gh{joint}p_{'aB3dE5fG7h' * 4}"}).encode()
    assert sight(line.decode()) == "suspect"
    assert seen_in([line]) == ["seen"]


def test_base64_that_is_whole_only_without_its_escapes_is_seen() -> None:
    """In pieces of ten letters, none of which is a run of it."""
    packed = base64.b64encode(b"It is AK" + b"IAQ3EG7RTYUW2DFH5K").decode()
    line = b'{"pwd":"x","v":"' + re.sub(r"(.{9}.*?)(?=[A-Z])", r"\1\\\\", packed).encode() + b'"}'
    assert json.loads(line)
    assert sight(line.decode()) == "suspect"
    assert not secret_depths.is_clean(line)


@given(st.text("aKq?>~ /\n", min_size=12, max_size=40), st.binary(max_size=4), st.booleans())
@settings(max_examples=30)
def test_what_can_be_read_in_base64_is_seen(text: str, before: bytes, for_addresses: bool) -> None:
    packed = (base64.urlsafe_b64encode if for_addresses else base64.b64encode)(before + text.encode())
    run = packed.rstrip(b"=")
    if len(run) >= 20 and not run.islower() and not run.isupper():
        assert any(base64_at(b'"' + run + b'"'))


ODD = "".join(map(chr, range(33, 127)))


def _form(form: Callable[[str, str], str], value: str, text: str) -> str:
    return form(text, value)


def spelled_somehow(random: Random, value: str) -> str:
    """Return a value among other words, in up to three spellings one within the other."""
    text = f"{random.choice(['', 'so', 'x=', 'é '])}{value}{random.choice(['', ' ', ';', chr(10)])}"
    for _ in range(random.randrange(4)):
        form = random.choice([json.dumps, *(partial(_form, form, value) for form in FORMS.values())])
        text = form(text)
    return text


@given(st.text(ODD, min_size=8, max_size=30) | st.text("aB3 é\n\\", min_size=8, max_size=12), st.randoms())
@settings(max_examples=30)
def test_no_known_secret_is_in_what_is_passed_over(value: str, random: Random) -> None:
    cleaner = Cleaner(Secrets({value: "password"}), KEY, None)
    spellings = Secrets({value: "password"}).spellings
    for _ in range(12):
        texts = [spelled_somehow(random, value), some_text(random)]
        line = json.dumps({"pwd": "x", "v": texts}, ensure_ascii=random.random() < 0.5)
        sights: tuple[tuple[int, Sight], ...] = ((1, "plain"), (2, "clean"))
        for number, seen in sights:
            if cleaner.beginnings is not None and cleaner.passes(line.encode(), number, is_near=True):
                assert not may_hold(line, spellings, seen), line


def test_a_line_without_what_is_known_is_passed_over() -> None:
    cleaner = Cleaner(Secrets({"hunter2x!hunter": "password"}), KEY, None)
    assert cleaner.beginnings is not None
    line = json.dumps({"pwd": "x", "v": 'print("a\\n\\t\\"b\\"") ' * 20}).encode()
    assert cleaner.passes(line, 1, is_near=True)
    assert cleaner.passes(line, 2, is_near=True)
    assert not cleaner.passes(line.replace(b"print", b"hunter2x!hunter", 1), 1, is_near=True)
    for value in ("pass word 12", "paßwort12345", "pass\tword12"):
        assert Cleaner(Secrets({value: "password"}), KEY, None).beginnings is None


def test_what_is_escaped_as_a_letter_or_a_space_is_not_judged() -> None:
    """Those that a pattern may take for one of ours; all others are passed over."""
    for number in range(0x10000):
        one = chr(number)
        counts = bool(re.match(r"(?i)[\s -~]", one)) or number == 0x130
        for line in (f'{{"pwd":"\\u{number:04X}"}}', f'{{"pwd":"\\u{number:04x}"}}'):
            is_clean = secret_depths.is_clean(line.encode())
            assert not (counts and is_clean), line
            assert is_clean or counts or one == "\x7f" or "\u200b" <= one <= "\u200f", line


def test_every_word_that_may_be_passed_over_is_one_of_the_rules() -> None:
    assert set(secret_depths.FOLLOWED | secret_depths.AS_WRITTEN) <= set(WORDS)
    assert set(secret_glance.FOLLOWED) <= set(WORDS)


def test_where_words_cannot_be_found_at_once_all_comes_out_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    data = some_session(Random("no wheel"), 12)
    quick = told(data)
    finder = secret_glance._finder  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setitem(sys.modules, "ahocorasick_rs", None)
    finder.cache_clear()
    try:
        assert not secret_glance.is_quick()
        assert told(data) == quick
    finally:
        finder.cache_clear()
