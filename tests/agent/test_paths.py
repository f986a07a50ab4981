"""What is opened is the file that was asked about, and never a link, a pipe or a device."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from clew.agent import paths


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder without links on the way."""
    return tmp_path.resolve()


def test_a_relative_path_starts_at_the_working_folder(place: Path) -> None:
    assert paths.resolve("a/../b.txt", str(place)) == str(place / "b.txt")


def test_a_tilde_is_the_home(place: Path) -> None:
    assert paths.resolve("~/x", str(place)) == str(Path.home().resolve() / "x")
    assert paths.resolve("~x", str(place)) == str(place / "~x")


def test_links_are_followed_as_far_as_they_are_there(place: Path) -> None:
    (place / "real").mkdir()
    (place / "link").symlink_to("real")
    (place / "dangling").symlink_to("gone/file")
    assert paths.resolve("link/new/file", str(place)) == str(place / "real/new/file")
    assert paths.resolve("dangling", str(place)) == str(place / "gone/file")


def test_what_is_above_a_link_is_above_what_it_leads_to(place: Path) -> None:
    (place / "far/deep").mkdir(parents=True)
    (place / "link").symlink_to("far/deep")
    assert paths.resolve("link/../x", str(place)) == str(place / "far/x")


@pytest.mark.parametrize("path", ["", "a\0b", "half \ud800", "\udfff/x"])
def test_what_no_file_can_be_called_is_refused(place: Path, path: str) -> None:
    with pytest.raises(paths.BadPathError):
        paths.resolve(path, str(place))


def test_links_in_a_circle_are_no_file(place: Path) -> None:
    (place / "a").symlink_to("b")
    (place / "b").symlink_to("a")
    resolved = paths.resolve("a", str(place))
    with pytest.raises(paths.NotAFileError), paths.opened(resolved):
        pass


def test_a_file_is_read_whole(place: Path) -> None:
    (place / "a").write_bytes(b"x" * 3_000_000)
    assert paths.read(str(place / "a"), most=3_000_000).data == b"x" * 3_000_000
    with pytest.raises(paths.TooLargeError):
        paths.read(str(place / "a"), most=2_999_999)


def test_a_file_that_grows_is_not_read_for_ever(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / "empty").touch()
    empty = (place / "empty").stat()
    (place / "a").write_text("x" * 100)

    def says_empty(_: int) -> os.stat_result:
        return empty

    monkeypatch.setattr(os, "fstat", says_empty)
    with pytest.raises(paths.TooLargeError):
        paths.read(str(place / "a"), most=10)


def test_what_tells_of_processes_is_not_opened() -> None:
    """The environment of this very process may hold the key to the API."""
    for path in ("/proc/self/environ", f"/proc/{os.getpid()}/environ", "/proc"):
        with pytest.raises(paths.NotAFileError):
            paths.read(path, most=1 << 20)


def test_a_link_in_the_place_of_a_file_is_refused(place: Path) -> None:
    (place / "secret").write_text("secret")
    (place / "a").symlink_to("secret")
    with pytest.raises(paths.NotAFileError, match="a link"):
        paths.read(str(place / "a"), most=100)


def test_a_link_in_the_place_of_a_folder_is_refused(place: Path) -> None:
    (place / "real").mkdir()
    (place / "real/a").write_text("secret")
    (place / "folder").symlink_to("real")
    with pytest.raises(paths.NotAFileError, match="link"):
        paths.read(str(place / "folder/a"), most=100)
    with pytest.raises(paths.NotAFileError), paths.opened_folder(str(place / "folder/new"), make=True):
        pass
    assert not (place / "real/new").exists()


@pytest.mark.parametrize("path", ["/dev/null", "/dev/zero", "/dev/tty"])
def test_devices_are_not_opened(path: str) -> None:
    with pytest.raises(paths.NotAFileError, match="a device"):
        paths.read(path, most=100)


def test_pipes_and_folders_are_not_opened(place: Path) -> None:
    os.mkfifo(place / "pipe")
    with pytest.raises(paths.NotAFileError, match="a pipe"):
        paths.read(str(place / "pipe"), most=100)
    with pytest.raises(paths.NotAFileError, match="a directory"):
        paths.read(str(place), most=100)
    with pytest.raises(paths.NotAFileError, match="a directory"):
        paths.read("/", most=100)


def test_folders_that_are_missing_are_made(place: Path) -> None:
    with paths.opened_folder(str(place / "x/y"), make=True) as folder:
        assert folder is not None
    assert (place / "x/y").is_dir()


def test_what_is_not_there_is_nothing(place: Path) -> None:
    (place / "file").write_text("x")
    assert paths.look(str(place / "gone")) is None
    assert paths.look(str(place / "file/inside")) is None
    facts = paths.look(str(place / "file"))
    assert facts is not None
    assert paths.kind(facts) is None


def test_no_descriptor_is_left_open(place: Path) -> None:
    (place / "a").write_text("x")
    (place / "link").symlink_to("a")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(20):
        paths.read(str(place / "a"), most=10)
        with pytest.raises(paths.NotAFileError):
            paths.read(str(place / "link"), most=10)
        with pytest.raises(FileNotFoundError):
            paths.read(str(place / "gone/a"), most=10)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@pytest.mark.parametrize(
    ("path", "folder", "is_inside"),
    [("/a/b", "/a", True), ("/a", "/a", True), ("/ab", "/a", False), ("/a", "/", True), ("/", "/a", False)],
)
def test_inside_goes_by_whole_names(path: str, folder: str, is_inside: bool) -> None:
    assert paths.is_inside(path, folder) is is_inside
