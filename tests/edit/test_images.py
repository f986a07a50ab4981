"""Pictures taken out or made smaller."""

from __future__ import annotations

import io
import json
from base64 import b64decode, b64encode
from random import Random
from typing import Any

import pytest
from PIL import Image as Picture

from clew.actions.image_shrinking import shrink, shrinker
from clew.edit.images import MOST_BASE64, MOST_PIXELS, Shrink, is_taken, note
from clew.edit.strip import strip
from clew.format.blocks import Image
from clew.session.context import context
from tests.builder import Builder, call, image, text
from tests.edit.laws import check_laws, reasons, result_of

Json = dict[str, Any]


def picture(width: int, height: int, form: str = "PNG", *, noise: bool = False) -> bytes:
    made = Picture.new("RGB", (width, height), (200, 30, 30))
    if noise:
        made = Picture.frombytes("RGB", (width, height), Random(1).randbytes(width * height * 3))
    data = io.BytesIO()
    made.save(data, form)
    return data.getvalue()


def block(data: bytes, media_type: str = "image/png") -> Json:
    source = {"type": "base64", "media_type": media_type, "data": b64encode(data).decode()}
    return {"type": "image", "source": source}


def opened(found: Json) -> Picture.Image:
    return Picture.open(io.BytesIO(b64decode(found["source"]["data"])))


def with_pictures() -> Builder:
    """A picture in a prompt, in a result, in the client's own record of it and in what is attached."""
    small = block(picture(30, 20))
    return (
        Builder()
        .prompt([text("look"), small])
        .entry("attachment", attachment={"type": "queued_command", "prompt": [small, text("and this")]})
        .answer(call("c1"))
        .result("c1", [text("read"), small], toolUseResult={"type": "image", "file": {"base64": "AAAA"}})
        .answer("done")
    )


def test_a_note_says_what_was_there() -> None:
    assert note(Image(block(picture(30, 20))))["text"] == "[image removed: 30×20 PNG, 1 KB]"
    assert note(Image(block(b"\0" * 340_000, "image/jpeg")))["text"] == "[image removed: JPEG, 340 KB]"
    remote = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}
    assert note(Image(remote))["text"] == "[image removed]"
    assert (
        note(Image({"type": "image", "source": {"media_type": 7, "data": ["x"]}}))["text"]
        == "[image removed]"
    )


def test_no_picture_is_left_anywhere_and_every_word_is() -> None:
    edited = check_laws(with_pictures().data(), lambda session: strip(session, images="drop"))
    assert b"base64" not in edited.data
    sent = context(edited.after).messages
    assert sent[0]["content"] == [text("look"), text("[image removed: 30×20 PNG, 1 KB]")]
    assert sent[2]["content"][0]["content"] == [text("read"), text("[image removed: 30×20 PNG, 1 KB]")]
    attached = edited.after.entry(1).data["attachment"]["prompt"]
    assert attached == [text("[image removed: 30×20 PNG, 1 KB]"), text("and this")]
    assert "toolUseResult" not in edited.after.entry(3).data


def test_pictures_that_the_api_takes_stay_as_they_are() -> None:
    session = with_pictures().session()
    assert not strip(session, images="shrink", shrink=shrink)


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP"])
def test_a_picture_too_wide_is_made_smaller_in_its_own_format(form: str) -> None:
    large = block(picture(4000, 1000, form), f"image/{form.lower()}")
    data = Builder().prompt([large, text("look")]).answer("a wide one").data()
    edited = check_laws(data, lambda session: strip(session, images="shrink", shrink=shrink))
    found = context(edited.after).messages[0]["content"][0]
    assert found["source"]["media_type"] == f"image/{form.lower()}"
    assert (opened(found).format, opened(found).size) == (form, (MOST_PIXELS, MOST_PIXELS // 4))
    assert reasons(edited.changes) == ["a picture is made smaller"]


def test_a_picture_too_heavy_is_made_smaller_until_it_fits() -> None:
    heavy = picture(1300, 1100, noise=True)
    assert not is_taken(Image(block(heavy)))
    made = shrink(heavy, "image/png")
    assert made is not None
    assert len(b64encode(made[0])) <= MOST_BASE64
    assert is_taken(Image(block(*made)))
    assert opened(block(*made)).size[0] > 500


def test_a_turned_photo_stays_upright() -> None:
    made = Picture.new("RGB", (3000, 1500))
    turned = Picture.Exif()
    turned[0x0112] = 6
    data = io.BytesIO()
    made.save(data, "JPEG", exif=turned)
    smaller = shrink(data.getvalue(), "image/jpeg")
    assert smaller is not None
    assert opened(block(*smaller)).size == (1000, 2000)


@pytest.mark.parametrize("way", ["without Pillow", "unreadable", "in vain"])
def test_a_picture_that_cannot_be_made_smaller_is_taken_out_and_that_is_said(way: str) -> None:
    large = image() if way == "unreadable" else block(picture(2500, 10))
    ways: dict[str, Shrink | None] = {"unreadable": shrink, "in vain": lambda data, kind: (data, kind)}
    data = Builder().prompt([large, text("look")]).answer("gone").data()
    edited = check_laws(data, lambda session: strip(session, images="shrink", shrink=ways.get(way)))
    assert "[image removed" in context(edited.after).messages[0]["content"][0]["text"]
    assert reasons(edited.changes) == ["a picture that cannot be made smaller is taken out"]


@pytest.mark.parametrize("data", [b"", b"GIF89a", b"\x89PNG\r\n\x1a\n" + b"\0" * 40, b"no picture at all"])
def test_what_is_no_picture_is_not_made_smaller(data: bytes) -> None:
    assert shrink(data, "image/png") is None
    assert shrinker() is shrink


def test_a_bomb_is_not_opened() -> None:
    header = bytearray(picture(10, 10))
    header[16:24] = (60_000).to_bytes(4, "big") * 2
    assert shrink(bytes(header), "image/png") is None


def test_what_looks_like_a_picture_in_the_input_of_a_call_is_left_alone() -> None:
    session = (
        Builder().prompt("draw").answer(call("c1", "mcp__draw", {"image": image()})).result("c1").session()
    )
    assert not strip(session, images="drop")


def test_a_line_longer_than_is_held_loses_its_picture_too() -> None:
    large = block(b"\0" * (9 << 20))
    session = Builder().prompt([large, text("look")]).answer("gone").session()
    after = result_of(strip(session, images="drop"))
    assert json.loads(after.whole(0).raw)["message"]["content"][1] == text("look")
    assert after.source.size < 2000
