"""The worker takes everything once, waits for last lines, sends what came before first, and loses nothing."""

from __future__ import annotations

import json
import os
import threading
import time
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from clew.actions import hook_intents as intents
from clew.actions import hook_spool as spools
from clew.actions import hook_work
from clew.actions.hook_settling import answers, settle
from clew.actions.hook_work import Worker
from clew.actions.tracing import Failure, Sending
from clew.format.times import milliseconds
from tests.hook.place import Place, make

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from clew.actions.hook_work import Send


@pytest.fixture
def place(tmp_path: Path) -> Place:
    found = make(tmp_path)
    spools.make_folder(found.spool.folder)
    return found


@dataclass
class Sink:
    """Stands for what sends; fails for the paths it is told."""

    fails: set[str] = field(default_factory=set[str])
    calls: list[list[str]] = field(default_factory=list[list[str]])
    sizes: dict[str, int] = field(default_factory=dict[str, int])
    deadlines: list[float] = field(default_factory=list[float])
    during: Callable[[], None] | None = None
    endpoints: int = 1

    def __call__(
        self,
        paths: Sequence[tuple[str, str | None]],
        *,
        environ: Mapping[str, str],  # noqa: ARG002
        state: Path,  # noqa: ARG002
        now_ms: int,  # noqa: ARG002
        deadline: float,
        settle: Callable[[str], object] | None = None,
    ) -> Sending:
        self.deadlines.append(deadline - time.monotonic())
        if settle is not None:
            for path, _ in paths:
                settle(path)
        self.calls.append([Path(path).stem for path, _ in paths])
        self.sizes.update({path: Path(path).stat().st_size for path, _ in paths})
        if self.during is not None:
            during, self.during = self.during, None
            during()
        failed = [path for path, _ in paths if Path(path).stem in self.fails]
        return Sending(
            len(paths) - len(failed),
            failed=tuple(Failure(path, "no") for path in failed),
            endpoints=self.endpoints,
        )


def leave(
    place: Place, path: Path | str, event: str = "Stop", *, ms: int | None = None, **more: object
) -> None:
    """Leave an intent as a hook does."""
    when = int(time.time() * 1000) if ms is None else ms
    facts = {"transcript_path": str(path), "session_id": Path(path).stem, "event": event, "ms": when, **more}
    spools.append(place.spool, json.dumps(facts).encode())


def work(place: Place, send: Send, *, limit: float = 20.0, again: Callable[[int], None] = os.close) -> None:
    lock = spools.try_lock(place.spool)
    assert lock is not None
    Worker(place.spool, place.environ, lock=lock, again=again, send=send, limit=limit).run()
    free = spools.try_lock(place.spool)
    assert free is not None
    os.close(free)


def pending(place: Place) -> list[str]:
    return [Path(path).stem for path in intents.waiting(place.spool)]


def test_the_intents_of_a_session_are_one_job(place: Place) -> None:
    path, agent = place.transcript("s1", "one", "two"), place.transcript("agent-x", "sub")
    leave(place, path, "Stop", last=spools.digest("one"))
    leave(place, path, "SubagentStop", agent_transcript_path=str(agent), last=spools.digest("sub"))
    leave(place, path, "SessionEnd", reason="other")
    jobs, fresh = intents.take(place.spool)
    (job,) = jobs.values()
    assert fresh == {str(path)}
    assert job.last is None  # at the end of a session all of it is in the file
    assert job.agents == {str(agent): spools.digest("sub")}
    sink = Sink()
    leave(place, path, "Stop", last=spools.digest("two"))
    work(place, sink)
    assert sink.calls == [["s1"]]
    assert pending(place) == []
    assert not Path(place.spool.pending).exists()


def test_what_fails_is_kept_and_the_rest_is_not(place: Place) -> None:
    for name in ("s1", "s2", "s3"):
        leave(place, place.transcript(name, "ok"), last=spools.digest("ok"))
    sink = Sink(fails={"s2"})
    work(place, sink)
    assert sorted(chain.from_iterable(sink.calls)) == ["s1", "s2", "s3"]
    assert pending(place) == ["s2"]
    assert "s2.jsonl: no" in place.log
    told = json.loads(Path(place.spool.last).read_text())
    assert told["transcripts"] == 3
    assert told["turns_sent"] == 2
    assert len(told["failed"]) == 1
    leave(place, place.transcript("s4", "ok"), last=spools.digest("ok"))
    sink = Sink()
    work(place, sink)
    assert sink.calls == [["s2"], ["s4"]]  # what is left from before comes first
    assert pending(place) == []


def test_without_endpoints_nothing_piles_up(place: Place) -> None:
    leave(place, place.transcript("s1", "ok"), last=spools.digest("ok"))
    work(place, Sink(endpoints=0))
    assert pending(place) == []


def test_a_sender_that_raises_stops_nothing(place: Place) -> None:
    def explode(*_: object, **__: object) -> Sending:
        raise RuntimeError("\x1b[31mboom\n")

    leave(place, place.transcript("s1", "ok"))
    work(place, explode)
    assert pending(place) == ["s1"]
    assert "boom" in place.log
    assert "\x1b" not in place.log


def test_the_session_before_is_sent_first_and_its_failure_stops_nothing(place: Place) -> None:
    place.transcript("old", "a")
    place.transcript("middle", "b", first="old")
    path = place.transcript("new", "c", first="middle")
    leave(place, path, "SessionStart", source="compact", last=spools.digest("c"))
    sink = Sink(fails={"old"})
    work(place, sink)
    assert sink.calls == [["old", "middle"], ["new"]]
    assert sink.deadlines[0] < 9 < sink.deadlines[1]  # it may not take all the time there is
    assert pending(place) == []


def test_sessions_that_name_each_other_end_somewhere(place: Place) -> None:
    place.transcript("x", "a", first="y")
    path = place.transcript("y", "b", first="x")
    place.transcript("z", "c", first="../../../etc/passwd")
    leave(place, path, last=spools.digest("b"))
    leave(place, place.project / "z.jsonl", last=spools.digest("c"))
    sink = Sink()
    work(place, sink)
    assert sorted(chain.from_iterable(sink.calls)) == ["x", "y", "z"]


def test_the_last_line_is_waited_for(place: Place) -> None:
    path = place.transcript("s1", "one")
    whole = place.transcript("s2", "one", "two").read_bytes()
    before = path.stat().st_size
    leave(place, path, last=spools.digest("two"))
    writer = threading.Timer(0.5, path.write_bytes, [whole])
    writer.start()
    sink = Sink()
    work(place, sink)
    writer.join()
    assert sink.sizes[str(path)] == len(whole) > before
    assert sink.calls == [["s1"]]
    assert pending(place) == []


def test_a_last_line_that_comes_late_is_sent_by_the_same_worker(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hook_work, "_AGAIN", (0.3, 0.3))
    monkeypatch.setattr(hook_work, "SETTLING", 0.2)
    path = place.transcript("s1", "one")
    whole = place.transcript("s2", "one", "two").read_bytes()
    leave(place, path, last=spools.digest("two"))
    sink = Sink(during=lambda: void(path.write_bytes(whole)))
    work(place, sink)
    assert sink.calls == [["s1"], ["s1"]]
    assert sink.sizes[str(path)] == len(whole)
    assert pending(place) == []


def void(_: object) -> None:
    """Return nothing."""


def test_a_last_line_that_never_comes_is_given_up(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hook_work, "_AGAIN", (0.1, 0.1))
    monkeypatch.setattr(hook_work, "SETTLING", 0.1)
    leave(place, place.transcript("s1", "one"), last=spools.digest("never written"))
    sink = Sink()
    work(place, sink)
    assert sink.calls == [["s1"]] * 3
    assert pending(place) == []


def test_an_intent_that_comes_while_the_worker_is_busy_is_taken_by_it(place: Place) -> None:
    path, late = place.transcript("s1", "ok"), place.transcript("s2", "ok")
    leave(place, path, last=spools.digest("ok"))
    sink = Sink(during=lambda: leave(place, late, last=spools.digest("ok")))
    work(place, sink)
    assert sink.calls == [["s1"], ["s2"]]


def test_an_intent_that_comes_as_the_worker_ends_is_not_overlooked(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The moment between the last look and the lock let go: the hook sees it held and starts nobody."""
    late = place.transcript("s2", "ok")
    tell = Worker._tell  # pyright: ignore[reportPrivateUsage]
    told: list[int] = []

    def tell_late(worker: Worker) -> None:
        tell(worker)
        if not told:
            assert spools.try_lock(place.spool) is None
            leave(place, late, last=spools.digest("ok"))
        told.append(1)

    monkeypatch.setattr(Worker, "_tell", tell_late)
    leave(place, place.transcript("s1", "ok"), last=spools.digest("ok"))
    sink = Sink()
    work(place, sink)
    assert sink.calls == [["s1"], ["s2"]]


def test_a_worker_without_time_hands_on_to_another(place: Place) -> None:
    path, late = place.transcript("s1", "ok"), place.transcript("s2", "ok")

    def slow() -> None:
        time.sleep(1.2)
        leave(place, late, last=spools.digest("ok"))

    leave(place, path, last=spools.digest("ok"))
    sink, locks = Sink(during=slow), list[int]()

    def again(lock: int) -> None:
        assert spools.try_lock(place.spool) is None  # there is no moment without
        locks.append(lock)
        os.close(lock)

    work(place, sink, limit=2.0, again=again)
    assert sink.calls == [["s1"]]
    assert len(locks) == 1
    assert pending(place) == ["s2"]


def test_what_a_killed_worker_had_taken_is_taken_again(place: Place) -> None:
    path = place.transcript("s1", "ok")
    leave(place, path)
    Path(place.spool.intents).rename(f"{place.spool.intents}.123-1")
    Path(f"{place.spool.intents}.124-1").write_bytes(b'\x00{"torn\n[]\n7\n{"transcript_path": 7}\n')
    Path(place.spool.pending).write_bytes(b"\xff\xff not json\n")
    assert pending(place) == ["s1"]
    sink = Sink()
    work(place, sink)
    assert sink.calls == [["s1"]]
    assert [*Path(place.spool.folder).glob("intents*")] == []


def test_a_disk_that_takes_nothing_loses_nothing(place: Place) -> None:
    leave(place, place.transcript("s1", "ok"))
    Path(f"{place.spool.pending}.new").mkdir()  # so that nothing can be written down
    sink = Sink(fails={"s1"})
    work(place, sink)
    assert pending(place) == ["s1"]
    Path(f"{place.spool.pending}.new").rmdir()
    sink = Sink()
    leave(place, place.project / "s1.jsonl")
    work(place, sink)
    assert pending(place) == []


def test_a_line_torn_by_a_full_disk_costs_itself_alone(place: Place) -> None:
    spools.append(place.spool, b'{"transcript_path": "/torn')
    data = Path(place.spool.intents).read_bytes()
    Path(place.spool.intents).write_bytes(data[:10])
    leave(place, place.transcript("s1", "ok"))
    assert pending(place) == ["s1"]


def test_what_waits_too_long_is_given_up(place: Place) -> None:
    week, month = 8 * 86_400_000, 31 * 86_400_000
    now = int(time.time() * 1000)
    leave(place, place.project / "missing.jsonl", ms=now - week)
    leave(place, place.project / "younger.jsonl", ms=now - 1000)
    leave(place, place.transcript("old", "ok"), ms=now - month)
    work(place, Sink())
    assert pending(place) == ["younger"]
    assert "there is no" in place.log
    assert "too long" in place.log


def test_many_hooks_at_once_lose_no_intent_to_a_worker_that_takes_them(place: Place) -> None:
    """Four writers and one that takes, without locks between them."""
    taken: dict[str, intents.Job] = {}
    stop = threading.Event()

    def write(name: int) -> None:
        for number in range(150):
            leave(place, f"/p/{name}-{number}.jsonl")

    def take() -> None:
        while not stop.is_set():
            taken.update(intents.take(place.spool)[0])

    threads = [threading.Thread(target=write, args=(n,)) for n in range(4)]
    taker = threading.Thread(target=take)
    taker.start()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stop.set()
    taker.join()
    taken.update(intents.take(place.spool)[0])
    assert len(taken) == 600


@pytest.mark.parametrize("many", [intents.MOST + 10])
def test_no_more_than_so_many_wait(place: Place, many: int) -> None:
    jobs = {str(n): intents.Job(str(n), ms=n, first_ms=n) for n in range(many)}
    assert intents.keep(place.spool, jobs)
    assert len(intents.waiting(place.spool)) == intents.MOST
    assert str(many - 1) in intents.waiting(place.spool)


def test_answers_are_known_by_any_of_their_texts(tmp_path: Path) -> None:
    def line(text: str, message: str, **more: object) -> str:
        content = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": text}]
        return (
            json.dumps({"type": "assistant", "message": {"id": message, "content": content}, **more}) + "\n"
        )

    path = tmp_path / "x.jsonl"
    odd = '[]\n"x"\n{"type":"assistant"}\n{"type":"assistant","message":{"content":"text"}}\n'
    path.write_text(line("before", "m1") + line("first ", "m2") + odd[:7] + line("second\n", "m2") + '{"torn')
    assert spools.digest("second") in answers(path.as_posix())
    assert spools.digest("first \nsecond") in answers(path.as_posix())
    assert spools.digest("before") not in answers(path.as_posix())
    path.write_text(odd)
    assert answers(path.as_posix()) == set()
    # Where another has followed, the one that was meant is known by its time; an older one reads the same.
    times = ("2026-11-15T10:00:00.000Z", "2026-11-15T10:00:09.000Z", "2026-11-15T10:00:10.000Z")
    path.write_text("".join(line(f"{n}", f"m{n}", timestamp=when) for n, when in enumerate(times)))
    since = milliseconds(times[1])
    assert answers(path.as_posix(), since_ms=since) == {spools.digest("1"), spools.digest("2")}
    assert settle(path.as_posix(), spools.digest("1"), said_ms=(since or 0) + 100, longest=0)
    assert not settle(path.as_posix(), spools.digest("0"), said_ms=(since or 0) + 100, longest=0)
    assert not settle(path.as_posix(), spools.digest("1"), longest=0)
    assert answers("/nonexistent") == set()


def test_a_quiet_file_has_settled_and_one_being_written_has_not(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("{}\n")
    assert settle(str(path), None)
    assert not settle("/nonexistent", None)
    clock = [0.0]

    def sleep(seconds: float) -> None:
        clock[0] += seconds
        with path.open("a") as file:
            file.write("{}\n")

    assert not settle(str(path), None, now=lambda: clock[0], sleep=sleep)
    assert 2.0 <= clock[0] < 2.2


def test_a_stop_and_what_follows_it_agree_on_what_is_waited_for(place: Place) -> None:
    path = place.transcript("s1", "one")
    leave(place, path, "Stop", ms=1000, last="of the stop")
    leave(place, path, "SubagentStop", ms=2000, last="of an agent", agent_transcript_path="/x.jsonl")
    (job,) = intents.waiting(place.spool).values()
    assert (job.last, job.last_ms, job.ms) == ("of the stop", 1000, 2000)
    assert intents.keep(place.spool, {job.path: job})
    Path(place.spool.intents).unlink()
    assert intents.waiting(place.spool) == {job.path: job}
    leave(place, path, "SessionEnd", ms=3000)
    (job,) = intents.waiting(place.spool).values()
    assert job.last is None
    leave(place, path, "Stop", ms=4000, last="of the next")
    (job,) = intents.waiting(place.spool).values()
    assert (job.last, job.last_ms) == ("of the next", 4000)


def test_an_intent_that_goes_into_a_file_just_taken_is_left_again(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker takes the file between a hook's opening of it and its writing, and has read it by then."""
    write = spools._write  # pyright: ignore[reportPrivateUsage]
    taken: list[str] = []

    def write_late(descriptor: int, data: bytes) -> None:
        if len(taken) < 2:
            taken.extend(intents.take(place.spool)[0] or ["nothing"])
        write(descriptor, data)

    monkeypatch.setattr(spools, "_write", write_late)
    leave(place, "/p/x.jsonl")
    assert taken == ["nothing", "nothing"]
    assert [*intents.waiting(place.spool)] == ["/p/x.jsonl"]
