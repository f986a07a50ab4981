"""Plans: what stays is the same bytes, and what goes takes nothing with it."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from clew.edit.plan import KEEP, Add, Drop, FilePlan, Patch, Plan
from clew.session.session import Session
from tests.fuzz.mutate import damaged_file
from tests.session.recorded import CORPUS

if TYPE_CHECKING:
    from clew.edit.plan import Step

RECORDED = sorted(CORPUS.glob("**/*.jsonl"))
LINES = b'{"uuid":"a"}\n{"uuid":"b"}\r\n\n{"uuid":"c"} \n{"uuid":"d"}'


def woven(plan: FilePlan) -> bytes:
    return b"".join(plan.pieces())


@pytest.mark.parametrize("version", sorted({path.relative_to(CORPUS).parts[0] for path in RECORDED}))
def test_a_plan_that_keeps_everything_makes_the_same_file(version: str) -> None:
    for path in RECORDED:
        if path.relative_to(CORPUS).parts[0] == version:
            data = path.read_bytes()
            assert woven(FilePlan(Session.read(data), "x.jsonl")) == data


@pytest.mark.parametrize("seed", range(200))
def test_so_it_does_of_any_damaged_file(seed: int) -> None:
    data = damaged_file(Random(seed))
    plan = FilePlan(Session.read(data), "x.jsonl")
    assert woven(plan) == data
    counts = Plan((plan,)).counts()
    assert (counts.patched, counts.dropped, counts.added) == (0, 0, 0)
    assert counts.bytes_before == counts.bytes_after == len(data)


@pytest.mark.parametrize("seed", range(200))
def test_any_steps_give_what_a_plain_weaver_gives(seed: int) -> None:
    chosen = Random(seed)
    data = damaged_file(chosen)
    session = Session.read(data)
    sorts = [chosen.randrange(4) for _ in range(len(session) + 1)]
    steps: list[Step] = [
        Patch(b'{"new":%d}' % row, "test") if sort == 1 else Drop("test") if sort == 2 else KEEP
        for row, sort in enumerate(sorts)
    ]
    before = {row: [Add(b'{"more":%d}' % row, "test")] for row, sort in enumerate(sorts) if sort == 3}
    end = [Add(b"{}", "test")] if sorts[-1] == 3 else []
    plan = FilePlan(session, "x.jsonl", decide=steps.__getitem__, before=before, at_end=end)
    found = woven(plan)
    assert found == woven(plan)
    assert Plan((plan,)).counts().bytes_after == len(found)

    expected = data[: plan.preamble]
    for item in plan.items():
        step = KEEP if item.row is None else steps[item.row]
        for added in before.get(item.row, ()) if item.row is not None else ():
            expected += (b"" if expected.endswith(b"\n") or not expected else b"\n") + added.data + b"\n"
        if isinstance(step, Patch):
            expected += step.data + data[item.offset + item.length : item.end]
        elif not isinstance(step, Drop):
            expected += data[item.offset : item.end]
    for added in end:
        expected += (b"" if expected.endswith(b"\n") or not expected else b"\n") + added.data + b"\n"
    assert found == expected


def test_line_endings_and_blanks_stay_with_their_line() -> None:
    session = Session.read(LINES)
    patched = FilePlan(session, "x", decide=lambda row: Patch(b"{}", "t") if row == 1 else KEEP)
    assert woven(patched) == LINES.replace(b'{"uuid":"b"}', b"{}")
    dropped = FilePlan(session, "x", decide=lambda row: Drop("t") if row == 1 else KEEP)
    assert woven(dropped) == b'{"uuid":"a"}\n{"uuid":"c"} \n{"uuid":"d"}'


def test_a_new_line_after_an_unfinished_one_stands_on_a_line_of_its_own() -> None:
    plan = FilePlan(Session.read(LINES), "x", at_end=[Add(b'{"uuid":"e"}', "t")])
    assert woven(plan) == LINES + b'\n{"uuid":"e"}\n'


def test_what_stands_before_the_first_record_stays() -> None:
    data = b'\xef\xbb\xbf\n{"uuid":"a"}\n'
    plan = FilePlan(Session.read(data), "x", before={0: [Add(b"{}", "t")]}, decide=lambda _row: Drop("t"))
    assert woven(plan) == b"\xef\xbb\xbf\n{}\n"
    assert woven(FilePlan(Session.read(b"\n\n"), "x")) == b"\n\n"
    assert woven(FilePlan(Session.read(b""), "x", at_end=[Add(b"{}", "t")])) == b"{}\n"


def test_a_plan_counts_what_it_does() -> None:
    steps: list[Step] = [KEEP, Patch(b"{}", "t"), Drop("t"), KEEP]
    plan = FilePlan(
        Session.read(LINES),
        "x",
        decide=steps.__getitem__,
        before={0: [Add(b"{}", "t")]},
        at_end=[Add(b"[]", "t")],
    )
    counts = Plan((plan,)).counts()
    assert counts[:4] == (2, 1, 1, 2)
    assert counts.bytes_before == len(LINES)
    assert counts.bytes_after == len(woven(plan))
