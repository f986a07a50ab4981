"""A file counts as known while it holds what was seen, whatever its time says."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from clew.agent.seen import Seen


def _seen(path: Path) -> Seen:
    seen = Seen()
    seen.note(str(path), path.read_bytes(), path.stat())
    return seen


def test_what_was_never_read_is_unseen() -> None:
    assert Seen().judge("/a", b"") == "unseen"
    assert Seen().sight("/a") is None


@given(st.binary(), st.binary())
def test_the_content_decides(one: bytes, other: bytes) -> None:
    seen = Seen()
    seen.note("/a", one, Path("/").stat())
    assert seen.judge("/a", one) == "same"
    assert seen.judge("/a", other) == ("same" if one == other else "changed")


def test_a_file_that_was_touched_is_the_same(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"x")
    seen = _seen(file)
    os.utime(file, ns=(1, 1))
    assert seen.changed() == ()
    assert seen.judge(str(file), file.read_bytes()) == "same"


def test_a_change_that_keeps_size_and_time_is_seen_when_it_matters(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"x")
    seen = _seen(file)
    facts = file.stat()
    file.write_bytes(b"y")
    os.utime(file, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert seen.judge(str(file), file.read_bytes()) == "changed"


def test_files_that_changed_or_are_gone_are_listed(tmp_path: Path) -> None:
    seen = Seen()
    for name in ("kept", "changed", "gone", "linked"):
        (tmp_path / name).write_text(name)
        seen.note(str(tmp_path.resolve() / name), name.encode(), (tmp_path / name).stat())
    (tmp_path / "changed").write_text("other")
    (tmp_path / "gone").unlink()
    (tmp_path / "linked").unlink()
    (tmp_path / "linked").symlink_to("kept")
    assert [Path(path).name for path in seen.changed()] == ["changed", "gone", "linked"]


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\ufeff")))
def test_a_file_known_from_a_transcript_is_known_by_its_text(text: str) -> None:
    """The transcript has the text decoded and with plain line ends."""
    seen = Seen()
    seen.remember("/a", text)
    crlf = text.replace("\n", "\r\n")
    assert seen.judge("/a", text.encode()) == "same"
    assert seen.judge("/a", crlf.encode()) == "same"
    assert seen.judge("/a", b"\xef\xbb\xbf" + crlf.encode()) == "same"
    assert seen.judge("/a", ("\ufeff" + text).encode("utf-16-le")) == "same"
    assert seen.judge("/a", text.encode() + b"!") == "changed"


def test_a_copy_goes_its_own_way() -> None:
    seen = Seen()
    seen.remember("/a", "x")
    copy = seen.copy()
    copy.remember("/b", "y")
    copy.forget("/a")
    assert (seen.paths, copy.paths) == (("/a",), ("/b",))


def test_calls_at_once_lose_nothing() -> None:
    seen = Seen()

    def note(number: int) -> None:
        for each in range(200):
            seen.remember(f"/{number}/{each}", "x")

    threads = [threading.Thread(target=note, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen.paths) == 800
