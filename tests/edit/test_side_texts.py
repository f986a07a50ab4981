"""Files beside a session of any size: no secret is left at any seam, and no other byte is changed."""

from __future__ import annotations

import base64
import json
import re
import tracemalloc
from collections import Counter
from random import Random
from typing import TYPE_CHECKING

import pytest

from clew.edit import side_texts
from clew.edit.secret_forms import AHEAD, WHOLE, WINDOW, find_secrets
from clew.edit.side_texts import gather_text, redact_text
from clew.edit.text_views import Glance, View, views_of
from tests.edit.secrets_planted import KINDS, Kind, left

if TYPE_CHECKING:
    from collections.abc import Iterator

KEY = b"a key of the run"
MARK = re.compile(rb"\[redacted:[a-z0-9-]+:[0-9a-f]{4}\]")
LINE = b"the lamp was lit at dusk and put out at dawn, as on any other day\n"


SMALL = 1 << 17


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let stretches be short, so that there are many of them."""
    monkeypatch.setattr(side_texts, "_WHOLE", SMALL)
    monkeypatch.setattr(side_texts, "_STRETCH", SMALL)


def in_pieces(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


def redacted(data: bytes, *, size: int = SMALL) -> bytes:
    pieces = in_pieces(data, size)
    return b"".join(redact_text(pieces, gather_text(pieces), KEY))


def filled(count: int) -> bytes:
    return (LINE * (count // len(LINE) + 1))[:count]


@pytest.mark.parametrize("kind", KINDS[::4], ids=lambda kind: kind.name)
def test_none_is_left_around_a_seam(kind: Kind) -> None:
    random = Random(kind.name)
    secret = kind.make(random)
    words = f"\n{kind.telling.format(secret)}\n".encode()
    for at in (SMALL - 60, SMALL + 4, 2 * SMALL - AHEAD - 30, SMALL + random.randrange(200_000)):
        data = filled(at) + words + filled(300_000)
        new = redacted(data)
        assert not left(new, kind, secret)
        assert len(MARK.findall(new)) == 1
        start, end = MARK.split(new)
        assert data.startswith(start)
        assert data.endswith(end)


def test_a_key_of_many_lines_is_found_wherever_a_stretch_ends() -> None:
    key = next(kind for kind in KINDS if kind.name == "private-key")
    secret = key.make(Random(1))
    for shift in range(0, 1200, 100):
        data = filled(SMALL + 400 - shift) + b"\n" + secret.encode() + b"\n" + filled(150_000)
        assert not left(redacted(data, size=SMALL + AHEAD), key, secret)


def test_one_line_without_an_end_is_cut_where_no_secret_is() -> None:
    token = next(kind for kind in KINDS if kind.name == "github-token")
    random = Random(2)
    secrets = [token.make(random) for _ in range(300)]
    data = b" ".join(filled(3_000).replace(b"\n", b" ") + b" " + one.encode() for one in secrets)
    tally: Counter[str] = Counter()
    pieces = in_pieces(data, 70_001)
    new = b"".join(redact_text(pieces, gather_text(pieces), KEY, tally=tally))
    assert tally == {"github-token": 300}
    assert not any(left(new, token, one) for one in secrets)
    assert len(MARK.findall(new)) == 300
    assert MARK.sub(b"", new) == re.sub(rb"ghp_\w+", b"", data)


@pytest.mark.parametrize("size", [65_537, SMALL])
def test_what_holds_none_is_the_very_bytes_it_was(size: int) -> None:
    random = Random(3)
    for data in (
        random.randbytes(600_000),
        "grüße vom Leuchtturm, 灯台 🗼\r\n".encode() * 8_000,
        "\ufeffgrüße 🗼\r\n".encode("utf-16-le") * 12_000,
        "\ufeffgrüße 🗼\r\n".encode("utf-16-be") * 12_000 + b"\x07",
        b"\xff\xfe" + random.randbytes(500_001),
    ):
        assert redacted(data, size=size) == data


def test_a_long_text_in_utf_16_is_read_as_such() -> None:
    token = next(kind for kind in KINDS if kind.name == "stripe-key")
    secret = token.make(Random(4))
    text = "\ufeff" + "Lampen 🗼\n" * 20_000 + secret + "\nLampen" * 10_000
    new = redacted(text.encode("utf-16-le"), size=99_999).decode("utf-16-le")
    assert re.fullmatch(
        r"\[redacted:stripe-key:[0-9a-f]{4}\]", new.replace("Lampen", "").strip("\ufeff \n🗼")
    )


def test_a_program_or_a_database_is_searched_where_it_can_be_read() -> None:
    random = Random(7)
    for kind in KINDS:
        secret = kind.make(random)
        words = kind.telling.format(secret).encode()
        data = random.randbytes(40_000) + b"\0" + words + b"\0" + random.randbytes(40_000)
        new = redacted(data)
        assert not left(new, kind, secret), kind.name
        start, end = MARK.split(new)
        assert data.startswith(start)
        assert data.endswith(end)


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_read_as_such(codec: str) -> None:
    token = next(kind for kind in KINDS if kind.name == "stripe-key")
    secret = token.make(Random(4))
    new = redacted(f"the key is {secret}, as I said\r\n".encode(codec)).decode(codec)
    assert re.fullmatch(r"the key is \[redacted:stripe-key:[0-9a-f]{4}\], as I said\r\n", new)


def test_a_large_file_is_never_whole_in_memory() -> None:
    token = next(kind for kind in KINDS if kind.name == "npm-token")
    secret = token.make(Random(5)).encode()

    def pieces() -> Iterator[bytes]:
        for at in range(60):
            yield filled(SMALL - 40) + (secret if at % 5 == 2 else b"")

    known = gather_text(pieces())
    tracemalloc.start()
    try:
        size = sum(map(len, redact_text(pieces(), known, KEY)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert size > 60 * (SMALL - 100)
    assert peak < 20 * SMALL


def test_a_secret_in_a_long_text_is_found_at_every_place() -> None:
    token = next(kind for kind in KINDS if kind.name == "password")
    secret = token.make(Random(6))
    words = token.telling.format(secret)
    for at in (0, *(spot + seam for seam in (0, WINDOW, 5 * WINDOW) for spot in range(-40, 8, 3) if seam)):
        text = filled(at).decode() + "\n" + words + "\n" + filled(WHOLE + WINDOW - at).decode()
        assert [text[one.start : one.end] for one in find_secrets(text)] == [secret]


def test_a_long_key_in_a_long_text_goes_whole() -> None:
    key = next(kind for kind in KINDS if kind.name == "private-key")
    random = Random(8)
    secret = "\n".join([*(lines := key.make(random).split("\n"))[:1], *lines[1:-2] * 50, *lines[-2:]])
    assert len(secret) > 2 * WINDOW > 10_000
    for form in (secret, base64.b64encode(f"{secret}\n".encode()).decode(), json.dumps({"key": secret})):
        for shift in (0, 7, 8_000):
            text = filled(WINDOW - shift).decode() + "\n" + form + "\n" + filled(WHOLE).decode()
            (one,) = find_secrets(text)
            rest = (text[: one.start] + text[one.end :]).replace(LINE.decode(), "")
            assert not re.search(r"[A-Za-z0-9+/]{70}", rest), (form[:20], shift)


def test_at_a_glance_a_text_reads_as_it_does_with_its_places() -> None:
    random = Random(9)
    parts = ["\\", "\\", '"', "n", "u", "0041", "%", "2", "5", "+", "&", "amp;", "é", "\0"]
    for _ in range(3_000):
        text = "".join(random.choices(parts, k=random.randrange(24)))
        assert [one.text for one in views_of(Glance(text))] == [one.text for one in views_of(View(text))]
