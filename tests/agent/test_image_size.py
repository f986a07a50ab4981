"""Sizes of images, read from their first bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.agent.image_size import image_size
from tests.agent.requests import gif, jpeg, png, webp

if TYPE_CHECKING:
    from collections.abc import Callable

sides = st.integers(1, 16_000)


@given(sides, sides)
def test_every_kind_tells_its_size(width: int, height: int) -> None:
    assert image_size(png(width, height)) == ("image/png", width, height)
    assert image_size(gif(width, height)) == ("image/gif", width, height)
    assert image_size(jpeg(width, height, before=b"\xff\xc0 a thumbnail")) == ("image/jpeg", width, height)
    for kind in (b"VP8X", b"VP8L", b"VP8 "):
        assert image_size(webp(width, height, kind=kind)) == ("image/webp", width, height)


@pytest.mark.parametrize("make", [png, gif, jpeg, webp])
def test_a_header_that_breaks_off_tells_no_size(make: Callable[[], bytes]) -> None:
    whole = make()
    sizes = [image_size(whole[:end]) for end in range(len(whole))]
    assert sizes[0] is None
    assert {size for size in sizes if size} <= {image_size(whole)}


@given(st.binary(), st.sampled_from([b"", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"\xff\xd8\xff", b"RIFF1234WEBP"]))
def test_any_bytes_are_read_without_an_error(data: bytes, start: bytes) -> None:
    found = image_size(start + data)
    assert found is None or start


def test_a_picture_the_client_recorded_is_read() -> None:
    """The smallest PNG there is, as tools write it."""
    dot = bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
        "0000000c49444154789c63f8cfc0000003010100c9fe92ef0000000049454e44ae426082"
    )
    assert image_size(dot) == ("image/png", 1, 1)
