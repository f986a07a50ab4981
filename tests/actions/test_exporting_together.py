"""A page is the same, byte for byte, whether one process writes it or two, whatever becomes of the second."""

from __future__ import annotations

import json
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from clew.actions import exporting_together, looking_together
from clew.actions.export_stories import Chosen
from clew.actions.exporting import Wish, export_pieces, export_session, processes
from clew.actions.exporting_together import write_together
from clew.actions.reading import open_reading
from clew.actions.stores import open_store
from clew.errors import ChangedOnDiskError
from clew.export.options import Options
from clew.export.registry import find
from clew.store.source import FileSource
from tests.builder import Builder, call, text, thinking
from tests.edit.secrets_planted import KINDS, SESSION, left_of, sow
from tests.faces.stage import demo, write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from clew.export.story import Story
    from clew.view.timeline import TurnView

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="no fork here")

KEY = b"k" * 32
ID = "0b0b0b0b-0000-4000-8000-000000000001"
SESSIONS = sorted((Path(__file__).parent.parent / "data" / "corpus").rglob("*.jsonl"))
SECRET = next(kind for kind in KINDS if not kind.lines)


def made(root: Path, name: str, jobs: int, **others: object) -> bytes:
    wish = replace(Wish(find("html"), key=KEY), **others)
    return b"".join(export_pieces(open_store([root]), name, wish, jobs=jobs)[0])


def long_session(*, secret: str = "", agents: bool = False) -> dict[str, bytes]:
    """Forty turns; what sub-agents did in a file of their own, and a secret in the middle."""
    builder = Builder(ID)
    beside: dict[str, bytes] = {}
    for number in range(40):
        builder.prompt(f"Ask {number} <b>&amp;</b> \u2028 " + "so " * (number % 7 * 50))
        builder.answer(thinking(f"Hm {number}"), call(f"t{number}", "Bash", {"command": f"echo {number}"}))
        builder.result(f"t{number}", "out\n" * (number % 5 * 40) + (secret if number == 20 else ""))
        if agents and number % 9 == 4:
            name = f"a{number:04}"
            given = {"prompt": f"Look {number}", "description": "look", "subagent_type": "Explore"}
            builder.answer(call(f"s{number}", "Task", given), stop="tool_use").result(f"s{number}", "seen")
            inner = (
                Builder(ID).user(f"Look {number}", isSidechain=True, agentId=name).answer("Seen " * number)
            )
            beside[f"{ID}/subagents/agent-{name}"] = inner.data()
        builder.answer(text(f"Answer {number} " + "word " * 300))
    return {ID: builder.data(), **beside}


def check_same_page(root: Path, path: Path) -> None:
    write(root, "-p", {path.stem: path.read_bytes()})
    assert made(root, path.stem, 2) == made(root, path.stem, 1), path


def test_every_tenth_session_of_the_corpus_is_the_same_page(tmp_path: Path) -> None:
    for number, path in enumerate(SESSIONS[::10]):
        check_same_page(tmp_path / str(number), path)


@pytest.mark.soak
def test_every_session_of_the_corpus_is_the_same_page(tmp_path: Path) -> None:
    for number, path in enumerate(SESSIONS):
        check_same_page(tmp_path / str(number), path)


def test_the_demo_is_the_same_in_every_format(tmp_path: Path) -> None:
    root = demo(tmp_path)
    names = [file.id for file in open_store([root]).listing().sessions]
    for format_ in ("html", "md", "json"):
        for name in names:
            one, two = (made(root, name, jobs, exporter=find(format_)) for jobs in (1, 2))
            assert one == two


@pytest.mark.parametrize("agents", [False, True])
@pytest.mark.parametrize("is_secret", [False, True])
@pytest.mark.parametrize("chosen", [Chosen(), Chosen(first=7, last=31)])
def test_a_long_session_is_the_same_page(
    tmp_path: Path, chosen: Chosen, *, agents: bool, is_secret: bool
) -> None:
    secret = SECRET.make(Random(5)) if is_secret else ""
    write(tmp_path, "-p", long_session(secret=SECRET.telling.format(secret) if secret else "", agents=agents))
    for key in (KEY, None):
        one, two = (made(tmp_path, ID, jobs, key=key, chosen=chosen) for jobs in (1, 2))
        assert one == two
        assert bool(secret and secret.encode() in one) == (is_secret and key is None)
    options = Options(with_agents=False, with_thinking=False)
    assert made(tmp_path, ID, 1, options=options) == made(tmp_path, ID, 2, options=options)


def test_of_every_sort_of_secret_nothing_is_left(tmp_path: Path) -> None:
    sown = sow(tmp_path)
    page = made(tmp_path, SESSION, 2)
    assert left_of(page, sown) == []
    assert page == made(tmp_path, SESSION, 1)


@pytest.mark.parametrize("place", ["line", "two lines", "damage", "sub-agent", "side file"])
def test_one_secret_is_found_wherever_it_is(tmp_path: Path, place: str) -> None:
    """By the second process, before this one has looked at anything."""
    kind = next(kind for kind in KINDS if kind.name == "password")
    secret = kind.make(Random(7))
    words = kind.telling.format(secret)
    files = long_session(agents=True)
    if place == "line":
        files[ID] += Builder(ID).user(words).data()
    elif place == "two lines":
        half = len(words) // 2
        files[ID] += Builder(ID).answer(words[:half], words[half:]).data()
    elif place == "damage":
        files[ID] += f'{{"type":"user", {words}\n'.encode()
    elif place == "sub-agent":
        files[f"{ID}/subagents/agent-a0004"] += Builder(ID).user(words, isSidechain=True).data()
    else:
        # Only there it is told what it is.
        files[ID] += Builder(ID).user(f"it may be {secret}").data()
    (path, *_) = write(tmp_path, "-p", files)
    if place == "side file":
        side = path.with_suffix("") / "tool-results" / "t1.txt"
        side.parent.mkdir(parents=True)
        side.write_text(words)
    one, two = (made(tmp_path, ID, jobs) for jobs in (1, 2))
    assert one == two
    assert made(tmp_path, ID, 2, key=None) != two
    assert secret.encode() not in two


def story(root: Path, jobs: int = 1) -> Story:
    from clew.actions.exporting import story as told

    return told(open_reading([root], ID), Wish(find("html"), key=KEY), jobs=jobs)


def in_two(told: Story) -> bytes:
    parts = find("html").in_parts
    assert parts is not None
    return b"".join(write_together(told, Options(), parts))


def in_one(told: Story) -> bytes:
    return b"".join(find("html").write(told, Options()))


def test_a_sub_agent_that_two_parts_name_is_told_once(tmp_path: Path) -> None:
    write(tmp_path, "-p", long_session(agents=True))
    told = story(tmp_path)

    def turns() -> Iterator[TurnView]:
        """All turns are the fifth, which started a sub-agent."""
        found = list(told.turns())
        return iter([found[4]] * len(found))

    def part(first: int, last: int) -> Iterator[TurnView]:
        return iter(list(turns())[first:last])

    again = replace(told, turns=turns, part=part)
    assert in_two(again) == in_one(again)


@pytest.mark.parametrize("after", [0, 3, 17])
def test_what_a_killed_process_leaves_is_written_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    write(tmp_path, "-p", long_session(agents=True))
    alone, here = made(tmp_path, ID, 1), os.getpid()

    def killed_after(kind: type, name: str) -> None:
        whole = getattr(kind, name)
        done = [0]

        def work(self: object, *given: object) -> object:
            if os.getpid() != here:
                done[0] += 1
                if done[0] > after:
                    os.kill(os.getpid(), signal.SIGKILL)
            return whole(self, *given)

        monkeypatch.setattr(kind, name, work)

    killed_after(exporting_together._Work, "write")  # pyright: ignore[reportPrivateUsage]
    killed_after(looking_together.Look, "_see")
    assert made(tmp_path, ID, 2) == alone


@pytest.mark.parametrize("reads", [60, 240])
def test_a_file_that_is_cut_meanwhile_is_an_error_and_leaves_no_half_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reads: int
) -> None:
    files = long_session()
    (path,) = write(tmp_path, "-p", files)
    read = FileSource.read
    left = [reads]

    def cut_meanwhile(source: FileSource, offset: int, length: int) -> bytes:
        left[0] -= 1
        if left[0] == 0:
            path.write_bytes(files[ID][: len(files[ID]) // 2])
        return read(source, offset, length)

    monkeypatch.setattr(FileSource, "read", cut_meanwhile)
    monkeypatch.setattr("clew.session.session._CACHE_BYTES", 0)
    output = tmp_path / "out"
    output.mkdir()
    with pytest.raises(ChangedOnDiskError):
        export_session(
            open_store([tmp_path]), ID, Wish(find("html"), key=KEY), target=str(output / "a.html"), jobs=2
        )
    assert list(output.iterdir()) == []


def test_an_interrupt_leaves_no_process_and_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "-p", long_session())
    here, began = os.getpid(), list[int]()
    fork = os.fork

    def counted() -> int:
        process = fork()
        if process:
            began.append(process)
        return process

    write_part = exporting_together._Work.write  # pyright: ignore[reportPrivateUsage]

    def interrupted(work: exporting_together._Work, part: int, told: set[str]) -> Iterator[bytes]:  # pyright: ignore[reportPrivateUsage]
        if os.getpid() == here and part == 2:
            raise KeyboardInterrupt
        return write_part(work, part, told)

    monkeypatch.setattr(os, "fork", counted)
    monkeypatch.setattr(exporting_together._Work, "write", interrupted)  # pyright: ignore[reportPrivateUsage]
    output = tmp_path / "out"
    output.mkdir()
    with pytest.raises(KeyboardInterrupt):
        export_session(
            open_store([tmp_path]), ID, Wish(find("html"), key=KEY), target=str(output / "a.html"), jobs=2
        )
    assert list(output.iterdir()) == []
    assert len(began) == 2
    for process in began:
        with pytest.raises(ChildProcessError):
            os.waitpid(process, os.WNOHANG)


def test_a_second_process_is_begun_where_it_pays_or_is_asked_for(tmp_path: Path) -> None:
    write(tmp_path, "-p", long_session())
    opened = open_reading([tmp_path], ID)
    assert processes(opened, None) == 1
    assert [processes(opened, jobs) for jobs in (1, 2, 64)] == [1, 2, 2]


def test_progress_is_told_of_all_bytes_once(tmp_path: Path) -> None:
    write(tmp_path, "-p", long_session(agents=True))
    for jobs in (1, 2):
        told: list[int] = []
        whole: list[int] = []

        def start(size: int, told: list[int] = told, whole: list[int] = whole) -> Callable[[int], None]:
            whole.append(size)
            return told.append

        wish = Wish(find("html"), key=KEY)
        list(export_pieces(open_store([tmp_path]), ID, wish, jobs=jobs, progress=start)[0])
        lines = sum(data.count(b"\n") for data in long_session(agents=True).values())
        assert len(told) == lines
        assert sum(told) + lines == whole[0]


def test_facts_are_json_however_many_wrote_it(tmp_path: Path) -> None:
    write(tmp_path, "-p", long_session(agents=True))
    page = made(tmp_path, ID, 2).decode()
    start = page.index('id="facts">') + len('id="facts">')
    facts = json.loads(page[start : page.index("</script>", start)])
    assert facts["is_redacted"] is True
    assert facts["head"]["turns"] == 40
