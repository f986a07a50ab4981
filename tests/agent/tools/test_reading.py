"""Read shows what is there, says what cannot be shown, and keeps what was seen."""

from __future__ import annotations

import base64
import io
import json
import os
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from clew.agent.image_size import image_size
from clew.agent.tools import read_image
from clew.agent.tools.read import Read
from clew.format.results_files import Read as View
from tests.agent.tools.desk import Desk, desk, structured, words


@pytest.fixture
def at(tmp_path: Path) -> Desk:
    """A place to work in."""
    return desk(tmp_path)


def _view(result: object) -> View:
    assert isinstance(result, dict)
    return View(result)  # pyright: ignore[reportUnknownArgumentType]  # just made


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"one\ntwo\n", "1\tone\n2\ttwo\n3\t"),
        (b"one\r\ntwo", "1\tone\n2\ttwo"),
        (b"\xef\xbb\xbfone\n", "1\tone\n2\t"),
        ("\ufeffhé\r\n".encode("utf-16-le"), "1\thé\n2\t"),
        ("\ufeffhé\n".encode("utf-16-be"), "1\thé\n2\t"),
        ("a\u2028b\x85c\x0cd\n".encode(), "1\ta\u2028b\x85c\x0cd\n2\t"),
        (b"\n\n", "1\t\n2\t\n3\t"),
    ],
)
def test_text_is_shown_with_numbers(at: Desk, data: bytes, told: str) -> None:
    path = at.write("a.txt", data)
    outcome = at.run(Read(), file_path=path)
    assert words(outcome) == told
    view = _view(outcome.structured)
    assert view.path == path
    assert view.total_lines == view.num_lines == told.count("\n") + 1
    assert at.seen.judge(path, data) == "same"


@given(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\0\ufeff"), min_size=1), st.data()
)
def test_windows_put_together_are_the_whole(
    tmp_path_factory: pytest.TempPathFactory, text: str, data: st.DataObject
) -> None:
    at = desk(tmp_path_factory.mktemp("w"))
    path = at.write("a.txt", text)
    lines = text.split("\n")
    at_line, shown = 1, list[str]()
    while at_line <= len(lines):
        limit = data.draw(st.integers(1, 5))
        part = structured(at.run(Read(), file_path=path, offset=at_line, limit=limit))["file"]
        assert part["startLine"] == at_line
        assert part["totalLines"] == len(lines)
        shown += part["content"].split("\n")
        at_line += limit
    assert shown == lines


def test_a_part_is_known_to_be_a_part(at: Desk) -> None:
    path = at.write("a.txt", "1\n2\n3\n")
    at.run(Read(), file_path=path, offset=2, limit=1)
    sight = at.seen.sight(path)
    assert sight is not None
    assert (sight.is_whole, sight.window) == (False, (2, 1))


def test_an_offset_behind_the_end_is_told(at: Desk) -> None:
    path = at.write("a.txt", "x\n")
    outcome = at.run(Read(), file_path=path, offset=9)
    assert "shorter than the provided offset (9). The file has 2 lines" in words(outcome)
    assert structured(outcome)["file"]["numLines"] == 0


def test_an_empty_file_is_told(at: Desk) -> None:
    outcome = at.run(Read(), file_path=at.write("a.txt", ""))
    assert "the contents are empty" in words(outcome)
    assert not outcome.is_error


def test_an_old_encoding_is_shown_and_told(at: Desk) -> None:
    outcome = at.run(Read(), file_path=at.write("a.txt", "café\n".encode("latin-1")))
    assert words(outcome).startswith("1\tcaf\ufffd\n2\t\n\n[This file is not valid UTF-8")


@pytest.mark.parametrize("name", ["a.exe", "a", "a.txt", "a.dat"])
def test_binary_files_are_told_not_shown(at: Desk, name: str) -> None:
    outcome = at.run(Read(), file_path=at.write(name, bytes(range(256)) * 40))
    assert outcome.is_error
    assert "cannot read binary files" in words(outcome)
    assert at.seen.paths == ()


def test_a_text_that_is_called_like_a_binary_file_is_shown(at: Desk) -> None:
    assert words(at.run(Read(), file_path=at.write("a.dat", "x=1\n"))) == "1\tx=1\n2\t"


def test_large_files_are_shown_in_parts(at: Desk) -> None:
    path = at.write("a.txt", "".join(f"row {n} {'y' * 40}\n" for n in range(9000)))
    whole = at.run(Read(), file_path=path)
    assert whole.is_error
    assert "exceeds maximum allowed size (256KB)" in words(whole)
    assert at.seen.paths == ()
    part = at.run(Read(), file_path=path, offset=100, limit=8000)
    file = structured(part)["file"]
    assert file["truncatedByTokenCap"] is True
    assert f"lines 100 to {99 + file['numLines']} of 9001 are shown" in words(part)
    assert len(words(part)) < 130_000
    large = structured(at.run(Read(), file_path=path, allow_large=True))["file"]
    assert large["numLines"] > file["numLines"]


def test_a_line_longer_than_everything_is_cut(at: Desk) -> None:
    outcome = at.run(Read(), file_path=at.write("a.txt", "x" * 200_000))
    assert words(outcome).startswith("1\txxx")
    assert len(words(outcome)) < 125_000
    assert structured(outcome)["file"]["truncatedByTokenCap"] is True


def test_a_huge_file_is_refused_whatever_part_is_asked_for(at: Desk) -> None:
    path = Path(at.write("a.txt", ""))
    os.truncate(path, 100 << 20)
    outcome = at.run(Read(), file_path=str(path), limit=1)
    assert outcome.is_error
    assert "100MB" in words(outcome)


def test_what_is_not_there_is_told_with_what_may_be_meant(at: Desk) -> None:
    at.write("one.py", "")
    outcome = at.run(Read(), file_path=str(at.folder / "one.txt"))
    assert words(outcome) == (
        f"File does not exist. Note: your current working directory is {at.folder}. Did you mean one.py?"
    )
    assert outcome.structured == f"Error: {outcome.content}"
    assert at.run(Read(), file_path=str(at.folder / "one.py/x")).is_error


def test_folders_pipes_and_devices_are_told(at: Desk) -> None:
    os.mkfifo(at.folder / "pipe")
    assert words(at.run(Read(), file_path=str(at.folder))).startswith("EISDIR")
    for path in (str(at.folder / "pipe"), "/dev/zero", "/proc/self/environ"):
        assert "does not read" in words(at.run(Read(), file_path=path))


def test_a_file_without_permission_is_told(at: Desk) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    path = at.write("a.txt", "x")
    Path(path).chmod(0)
    assert words(at.run(Read(), file_path=path)).startswith("EACCES: permission denied")


def test_a_link_put_there_after_the_question_is_not_followed(at: Desk) -> None:
    secret = at.write("elsewhere/secret.txt", "secret")
    path = at.write("a.txt", "harmless")
    tool, work, given = Read(), at.work(), {"file_path": path}
    assert tool.reach(given, work).reads == (path,)
    Path(path).unlink()
    Path(path).symlink_to(secret)
    outcome = tool.run(given, work)
    assert outcome.is_error
    assert "secret\n" not in str(outcome.content)


def _picture(kind: str, size: tuple[int, int], mode: str = "RGB") -> bytes:
    out = io.BytesIO()
    Image.new(mode, size).save(out, kind)
    return out.getvalue()


@pytest.mark.parametrize(
    ("kind", "media"), [("PNG", "png"), ("JPEG", "jpeg"), ("GIF", "gif"), ("WEBP", "webp")]
)
def test_a_picture_is_shown_as_it_is(at: Desk, kind: str, media: str) -> None:
    data = _picture(kind, (20, 10))
    outcome = at.run(Read(), file_path=at.write("a.png", data))
    blocks: list[Any] = list(outcome.content)
    assert blocks == [
        {
            "type": "image",
            "source": {
                "type": "base64",
                "data": base64.b64encode(data).decode(),
                "media_type": f"image/{media}",
            },
        }
    ]
    view = _view(outcome.structured)
    assert (view.media_type, view.size) == (f"image/{media}", (20, 10))


@pytest.mark.parametrize(
    ("kind", "mode"), [("PNG", "RGBA"), ("JPEG", "RGB"), ("WEBP", "RGB"), ("GIF", "P"), ("PNG", "P")]
)
def test_a_large_picture_is_shrunk(at: Desk, kind: str, mode: str) -> None:
    outcome = at.run(Read(), file_path=at.write("a.png", _picture(kind, (2600, 40), mode)))
    image, text = list(outcome.content)
    assert isinstance(image, dict)
    small = image_size(base64.b64decode(image["source"]["data"]))
    assert small is not None
    assert (small.width, small.height) == (2000, 31)
    assert isinstance(text, dict)
    assert text["text"] == (
        "[Image: original 2600x40, displayed at 2000x31. "
        "Multiply coordinates by 1.30 to map to original image.]"
    )
    assert structured(outcome)["file"]["dimensions"] == {
        "originalWidth": 2600,
        "originalHeight": 40,
        "displayWidth": 2000,
        "displayHeight": 31,
    }


def test_a_heavy_picture_is_made_lighter(at: Desk) -> None:
    noise = Image.frombytes("RGB", (1900, 1900), os.urandom(1900 * 1900 * 3))
    out = io.BytesIO()
    noise.save(out, "PNG")
    outcome = at.run(Read(), file_path=at.write("a.png", out.getvalue()))
    assert not outcome.is_error
    assert len(structured(outcome)["file"]["base64"]) <= 5 << 20


def test_without_pillow_what_the_api_takes_is_shown(at: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def finds_nothing(_: str) -> None:
        return None

    monkeypatch.setattr(read_image, "find_spec", finds_nothing)
    shown = at.run(Read(), file_path=at.write("a.png", _picture("PNG", (2600, 40))))
    assert not shown.is_error
    refused = at.run(Read(), file_path=at.write("b.png", _picture("PNG", (9000, 4))))
    assert refused.is_error
    assert "Pillow" in words(refused)


def test_a_picture_that_would_fill_the_memory_is_not_opened(at: Desk) -> None:
    """Its header says 60,000 by 60,000, in a few bytes."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return len(data).to_bytes(4) + name + data + zlib.crc32(name + data).to_bytes(4)

    header = (60_000).to_bytes(4) * 2 + bytes([8, 2, 0, 0, 0])
    bomb = (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(b"\0"))
        + chunk(b"IEND", b"")
    )
    outcome = at.run(Read(), file_path=at.write("a.png", bomb))
    assert outcome.is_error


def test_what_is_called_a_picture_and_is_none_is_told(at: Desk) -> None:
    outcome = at.run(Read(), file_path=at.write("a.png", "not a picture"))
    assert "unrecognized bytes (hex: 6e 6f 74 20 61 20 70 69)" in words(outcome)


def test_a_picture_without_an_ending_is_shown(at: Desk) -> None:
    outcome = at.run(Read(), file_path=at.write("picture", _picture("PNG", (4, 4))))
    assert structured(outcome)["type"] == "image"


_CELLS: list[dict[str, Any]] = [
    {"cell_type": "markdown", "id": "m1", "source": ["# Title\n", "words"]},
    {
        "cell_type": "code",
        "id": "c1",
        "execution_count": 3,
        "source": ["print(1)\n", "2"],
        "outputs": [
            {"output_type": "stream", "name": "stdout", "text": ["1\n"]},
            {"output_type": "execute_result", "data": {"text/plain": ["2"], "image/png": "aGVsbG8=\n"}},
            {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["t1", "t2"]},
        ],
    },
    {"cell_type": "raw", "source": "raw"},
    {"cell_type": "code", "execution_count": None, "source": [], "outputs": []},
]


def test_a_notebook_is_shown_by_cells(at: Desk) -> None:
    """The words are those that 2.1.325 made of the same notebook."""
    notebook = {"cells": _CELLS, "metadata": {"language_info": {"name": "python"}}, "nbformat": 4}
    outcome = at.run(Read(), file_path=at.write("a.ipynb", json.dumps(notebook)))
    picture = {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="}
    assert list(outcome.content) == [
        {
            "type": "text",
            "text": '<cell id="m1"><cell_type>markdown</cell_type># Title\nwords</cell id="m1">\n'
            '<cell id="c1">print(1)\n2</cell id="c1">\n\n1\n\n\n2',
        },
        {"type": "image", "source": picture},
        {
            "type": "text",
            "text": '\nE: v\nt1\nt2\n<cell id="cell-2"><cell_type>raw</cell_type>raw</cell id="cell-2">\n'
            '<cell id="cell-3"></cell id="cell-3">',
        },
    ]
    cells = structured(outcome)["file"]["cells"]
    assert cells[1] == {
        "cellType": "code",
        "source": "print(1)\n2",
        "execution_count": 3,
        "cell_id": "c1",
        "language": "python",
        "outputs": [
            {"output_type": "stream", "text": "1\n"},
            {
                "output_type": "execute_result",
                "text": "2",
                "image": {"image_data": "aGVsbG8=", "media_type": "image/png"},
            },
            {"output_type": "error", "text": "E: v\nt1\nt2"},
        ],
    }
    assert cells[3] == {"cellType": "code", "source": "", "cell_id": "cell-3", "language": "python"}


@pytest.mark.parametrize("data", ["{nope", "[]", '{"cells": 3}', "[" * 100_000])
def test_what_is_called_a_notebook_and_is_none_is_told(at: Desk, data: str) -> None:
    assert at.run(Read(), file_path=at.write("a.ipynb", data)).is_error


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.just("\ud800"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["cell_type", "source", "outputs", "id", "data", "text", "output_type"]), inner
        )
    ),
    max_leaves=12,
)


@given(st.lists(_JSON, max_size=4), _JSON)
def test_any_cells_are_survived(
    tmp_path_factory: pytest.TempPathFactory, cells: list[object], metadata: object
) -> None:
    at = desk(tmp_path_factory.mktemp("n"))
    outcome = at.run(
        Read(), file_path=at.write("a.ipynb", json.dumps({"cells": cells, "metadata": metadata}))
    )
    json.dumps([outcome.content, outcome.structured], ensure_ascii=False).encode("utf-8")


def test_a_pdf_is_shown_as_a_document(at: Desk) -> None:
    path = at.write("a.pdf", b"%PDF-1.4\n" + b"x" * 294)
    outcome = at.run(Read(), file_path=path)
    data = base64.b64encode(Path(path).read_bytes()).decode()
    assert list(outcome.content) == [
        {"type": "text", "text": f"PDF file read: {path} (303 bytes)"},
        {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": data}},
    ]
    view = _view(outcome.structured)
    assert (view.type, view.base64) == ("pdf", data)


def test_pdfs_that_are_none_or_too_long_are_told(at: Desk) -> None:
    assert "missing %PDF- header" in words(at.run(Read(), file_path=at.write("a.pdf", "no")))
    long = at.run(Read(), file_path=at.write("b.pdf", b"%PDF-1.4\n" + b"/Type /Page\n" * 101))
    assert 'with pages: "1-20"' in words(long)


@pytest.mark.parametrize("pages", ["x", "0", "3-1", "1,2", "1-99", "-1", "1-2-3"])
def test_odd_pages_are_refused(at: Desk, pages: str) -> None:
    outcome = at.run(Read(), file_path=at.write("a.pdf", "%PDF-1.4"), pages=pages)
    assert words(outcome).startswith("<tool_use_error>")


_DRAWS = """#!/bin/sh
for last; do :; done
printf '\\377\\330\\377one' > "$last-1.jpg"; printf '\\377\\330\\377two' > "$last-2.jpg"
"""


def test_pages_are_drawn_by_a_program(at: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    program = Path(at.write("bin/pdftoppm", _DRAWS))
    path = at.write("a.pdf", "%PDF-1.4")
    monkeypatch.setenv("PATH", str(at.folder / "nowhere"))
    assert "pdftoppm is not installed" in words(at.run(Read(), file_path=path, pages="1-2"))
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    outcome = at.run(Read(), file_path=path, pages="1-2")
    blocks: list[Any] = list(outcome.content)
    assert blocks[0]["text"] == f"PDF pages extracted: 2 pages from {path} (8 bytes)"
    assert [base64.b64decode(block["source"]["data"])[3:] for block in blocks[1:]] == [b"one", b"two"]
    assert structured(outcome) == {"type": "parts", "file": {"filePath": path, "originalSize": 8, "count": 2}}


def test_pages_that_cannot_be_drawn_are_told(at: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    program = Path(at.write("bin/pdftoppm", "#!/bin/sh\necho broken >&2\nexit 1\n"))
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    outcome = at.run(Read(), file_path=at.write("a.pdf", "%PDF-1.4"), pages="7")
    assert outcome.is_error
    assert "broken" in words(outcome)
