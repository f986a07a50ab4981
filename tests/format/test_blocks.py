"""Content blocks of every shape, and the sizes of pictures."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.format import blocks as b
from tests.format.samples import ask_everything, json_values, made_file, recorded

CONTENTS: list[tuple[object, list[type[b.Block]]]] = [
    (None, []),
    ([], []),
    ("words", [b.Text]),
    ("", [b.Text]),
    (["words", {"type": "text", "text": ""}], [b.Text, b.Text]),
    ({"type": "text", "text": "alone"}, [b.Text]),
    ([None, 7, [], {}, {"type": 7}], [b.Unknown] * 5),
    (7, [b.Unknown]),
    (
        [{"type": "thinking", "thinking": ""}, {"type": "redacted_thinking"}],
        [b.Thinking, b.RedactedThinking],
    ),
    ([{"type": "tool_use"}, {"type": "tool_result"}], [b.ToolUse, b.ToolResult]),
    ([{"type": "image"}, {"type": "document"}], [b.Image, b.Document]),
    ([{"type": "server_tool_use"}, {"type": "mcp_tool_use"}], [b.ServerToolUse, b.ServerToolUse]),
    ([{"type": "web_search_tool_result"}, {"type": "gull"}], [b.ServerToolResult, b.Unknown]),
]


@pytest.mark.parametrize(("content", "classes"), CONTENTS)
def test_content_of_any_shape_becomes_blocks(content: object, classes: list[type[b.Block]]) -> None:
    assert [type(block) for block in b.blocks(content)] == classes


@given(st.lists(json_values, max_size=5))
def test_no_element_of_a_list_is_dropped_or_changed(content: list[Any]) -> None:
    made = b.blocks(content)
    assert len(made) == len(content)
    assert all(block.raw is value for block, value in zip(made, content, strict=True))


keys = ["type", "text", "thinking", "signature", "id", "name", "input", "tool_use_id", "content", "is_error"]
keys += ["source", "title", "data", "media_type"]
types = ["text", "thinking", "tool_use", "tool_result", "image", "document", "x_tool_result"]


@given(
    st.dictionaries(st.sampled_from(keys), json_values),
    st.sampled_from(types),
    st.dictionaries(st.sampled_from(["type", "data", "media_type"]), json_values | st.just("base64")),
)
def test_no_block_makes_a_view_raise(data: dict[str, Any], kind: str, source: dict[str, Any]) -> None:
    for value in (data, {**data, "type": kind}, {**data, "type": kind, "source": source}):
        for block in b.blocks([value]):
            ask_everything(block)
            if isinstance(block, b.ToolResult):
                block.text()


def test_every_block_the_client_wrote_is_viewed() -> None:
    counted: dict[str, int] = {}
    for sample in recorded():
        if sample.data["type"] in ("user", "assistant"):
            for block in b.blocks(sample.data["message"]["content"]):
                ask_everything(block)
                counted[type(block).__name__] = counted.get(type(block).__name__, 0) + 1
    # Strings count as one text each; the figures were counted by a script without this module.
    assert counted == {
        "Image": 6,
        "RedactedThinking": 7,
        "Text": 1571,
        "Thinking": 174,
        "ToolResult": 789,
        "ToolUse": 795,
    }


def test_a_block_tells_its_fields() -> None:
    call, found, redacted, empty, text = b.blocks(made_file("made-blocks.jsonl")[1]["message"]["content"])
    assert isinstance(call, b.ServerToolUse)
    assert (call.id, call.name, call.input) == (
        "srvtoolu_made_19",
        "web_search",
        {"query": "rocks near the point"},
    )
    assert isinstance(found, b.ServerToolResult)
    assert (found.tool_use_id, found.is_error) == ("srvtoolu_made_19", False)
    assert isinstance(redacted, b.RedactedThinking)
    assert isinstance(empty, b.Thinking)
    assert (empty.text, empty.signature, empty.type) == ("", "made", "thinking")
    assert isinstance(text, b.Text)
    assert text.text == "The Sisters, three of them."
    document = b.block(made_file("made-blocks.jsonl")[0]["message"]["content"][0])
    assert isinstance(document, b.Document)
    assert (document.title, document.media_type, document.byte_size) == ("chart.pdf", "application/pdf", 9)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("all in one", "all in one"),
        ([{"type": "text", "text": "one"}, {"type": "image"}, {"type": "text", "text": "two"}], "one\ntwo"),
        (["bare", {"type": "text", "text": 7}], "bare\n"),
        (None, ""),
        (7, ""),
    ],
)
def test_a_result_is_words_whatever_its_content(content: object, text: str) -> None:
    block = b.block({"type": "tool_result", "tool_use_id": "t", "content": content, "is_error": True})
    assert isinstance(block, b.ToolResult)
    assert block.text() == text
    assert block.is_error


def test_a_bare_string_is_a_text_and_has_no_fields() -> None:
    block = b.block("words")
    assert (block.type, block.data, block.raw) == ("text", {}, "words")
    assert b.block(None).type is None


def png(width: int, height: int) -> bytes:
    head = struct.pack(">II5B", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + b"IHDR" + head + struct.pack(">I", zlib.crc32(head))


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + bytes(20)


def riff(kind: bytes, body: bytes) -> bytes:
    return (
        b"RIFF" + struct.pack("<I", 4 + 8 + len(body)) + b"WEBP" + kind + struct.pack("<I", len(body)) + body
    )


def webp_lossy(width: int, height: int) -> bytes:
    # The two highest bits of each side are a scale, not part of the size.
    return riff(b"VP8 ", b"\x00\x00\x00\x9d\x01\x2a" + struct.pack("<HH", width | 0x4000, height | 0x8000))


def webp_lossless(width: int, height: int) -> bytes:
    return riff(b"VP8L", b"\x2f" + struct.pack("<I", (width - 1) | (height - 1) << 14) + bytes(8))


def webp_extended(width: int, height: int) -> bytes:
    sides = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return riff(b"VP8X", bytes(4) + sides)


def jpeg(width: int, height: int, *, metadata: bytes = b"", frame: int = 0xC0) -> bytes:
    start = struct.pack(">BBHBHHB", 0xFF, frame, 17, 8, height, width, 3)
    return b"\xff\xd8" + metadata + start + bytes(9) + b"\xff\xd9"


def segment(marker: int, size: int) -> bytes:
    return struct.pack(">BBH", 0xFF, marker, size) + bytes(size - 2)


EXIF = segment(0xE1, 65_000) * 3 + segment(0xC4, 300)
PADDED = b"\xff\xff\xff\x01" + segment(0xDB, 67)


@pytest.mark.parametrize(
    "picture",
    [
        png(640, 480),
        gif(640, 480),
        webp_lossy(640, 480),
        webp_lossless(640, 480),
        webp_extended(640, 480),
        jpeg(640, 480),
        jpeg(640, 480, frame=0xC2),
        jpeg(640, 480, metadata=EXIF),
        jpeg(640, 480, metadata=PADDED),
    ],
    ids=["png", "gif", "lossy", "lossless", "extended", "jpeg", "progressive", "exif", "padded"],
)
def test_the_size_of_a_picture_is_in_its_header(picture: bytes) -> None:
    text = base64.b64encode(picture).decode()
    assert b.image_size(text) == (640, 480)
    assert b.image_size("data:image/any;base64," + text) == (640, 480)


def test_only_the_header_of_a_picture_is_decoded() -> None:
    text = base64.b64encode(png(9000, 12)).decode()[:40] + "this is no base64 at all! " * 1000
    assert b.image_size(text) == (9000, 12)


@pytest.mark.parametrize(
    "picture",
    [
        b"",
        b"words, not a picture at all, really",
        png(1, 1)[:8],
        b"\xff\xd8",
        b"\xff\xd8" + segment(0xE1, 40),
        b"\xff\xd8\xff\xd9" + bytes(20),
        b"\xff\xd8\xff\xda" + bytes(20),
        jpeg(640, 480)[:8],
        b"\xff\xd8" + b"\xff\xd0" * 5000 + jpeg(640, 480)[2:],
        webp_lossy(640, 480)[:20],
        riff(b"ODD ", bytes(30)),
        riff(b"VP8 ", bytes(30)),
    ],
)
def test_a_picture_that_is_none_or_cut_short_has_no_size(picture: bytes) -> None:
    assert b.image_size(base64.b64encode(picture).decode()) is None


@given(st.binary(max_size=80), st.sampled_from([b"", b"\xff\xd8", b"\x89PNG\r\n\x1a\n", b"RIFF", b"GIF89a"]))
def test_no_bytes_make_the_size_raise(data: bytes, magic: bytes) -> None:
    b.image_size(base64.b64encode(magic + data).decode())


@given(st.text(max_size=60))
def test_no_text_makes_the_size_raise(text: str) -> None:
    b.image_size(text)
    b.image_size("data:" + text)


def test_an_image_tells_its_size_and_weight() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(png(8, 9)).decode()}
    image = b.block({"type": "image", "source": source})
    assert isinstance(image, b.Image)
    assert (image.size, image.byte_size, image.media_type) == ((8, 9), len(png(8, 9)), "image/png")
    linked = b.block({"type": "image", "source": {"type": "url", "url": "https://example.org/x.png"}})
    assert isinstance(linked, b.Image)
    assert (linked.size, linked.byte_size) == (None, None)


def test_the_pictures_in_the_recorded_files_have_sizes() -> None:
    images = [
        block
        for sample in recorded()
        if sample.data["type"] == "user"
        for block in b.blocks(sample.data["message"]["content"])
        if isinstance(block, b.Image)
    ]
    assert {image.size for image in images} == {(8, 8)}
