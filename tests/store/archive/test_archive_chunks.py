"""Chunks: a file is cut where its lines end, and the same lines make the same chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from clew.store.archive_chunks import LEAST, MOST, cut
from tests.store.archives import noise

if TYPE_CHECKING:
    from collections.abc import Iterator


def in_pieces(data: bytes, sizes: list[int]) -> Iterator[bytes]:
    at = 0
    for size in sizes:
        yield data[at : at + size]
        at += size
    yield data[at:]


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 700_000)), max_size=6),
    st.lists(st.integers(0, 900_000), max_size=5),
)
@settings(max_examples=60)
def test_chunks_join_to_what_was_cut_and_do_not_depend_on_how_it_came(
    parts: list[tuple[int, int]], sizes: list[int]
) -> None:
    data = b"".join(
        noise(seed, size) if seed < 7 else bytes([seed]) * size + b"\n" * (seed - 7) for seed, size in parts
    )
    chunks = list(cut([data]))
    assert b"".join(chunks) == data
    assert list(cut(in_pieces(data, sizes))) == chunks
    assert all(LEAST <= len(chunk) <= MOST for chunk in chunks[:-1])
    assert all(0 < len(chunk) <= MOST for chunk in chunks[-1:])


def test_chunks_end_where_lines_end_unless_a_line_is_larger_than_a_chunk() -> None:
    chunks = list(cut([noise(1, 3_000_000)]))
    assert len(chunks) > 20
    assert all(chunk.endswith(b"\n") for chunk in chunks)
    giant = list(cut([b"a" * (2 * MOST + 7) + b"\n" + noise(2, 100_000)]))
    assert [len(chunk) for chunk in giant[:2]] == [MOST, MOST]


def test_a_line_more_or_less_in_the_middle_leaves_nearly_all_chunks_as_they_were() -> None:
    data = noise(3, 4_000_000)
    before = set(cut([data]))
    at = data.index(b"\n", 2_000_000) + 1
    inserted = list(cut([data[:at] + b'{"new":1}\n' + data[at:]]))
    dropped = list(cut([data[:at] + data[data.index(b"\n", at) + 1 :]]))
    assert sum(len(chunk) for chunk in inserted if chunk not in before) < 600_000
    assert sum(len(chunk) for chunk in dropped if chunk not in before) < 600_000
