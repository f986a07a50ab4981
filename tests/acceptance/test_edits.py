"""Every edit, resumed by the real client through the strict stand-in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.conformance.edits import CLIENTS, EDITS, PAGE, measure, sessions, table
from tests.conformance.edits import problems as by_client

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.conformance.edits import Verdict

pytestmark = pytest.mark.acceptance


def explained() -> set[tuple[str, str, str]]:
    """The session, the edit and the client of every exception that the notes give a reason for."""
    page = PAGE.read_text(encoding="utf-8").partition("## Edits that differ")[2]
    found = re.findall(r"^\| `([^`]+)` \| ([^|]+) \| ([\d., ]+) \|", page, re.MULTILINE)
    return {
        (session, one, client)
        for session, edit, clients in found
        for one in ([each.name for each in EDITS] if edit == "any" else [edit.strip("`")])
        for client in clients.split(", ")
    }


def judge(found: Sequence[Verdict]) -> None:
    """All in the newest client; at least 98 of 100 in each older one, and each exception is explained."""
    assert found
    print("\n".join(table(found)))
    bad = by_client(found)
    told = explained()
    for client in CLIENTS:
        total = [one for one in found if one.client == client]
        wrong = bad.get(client, [])
        detail = "\n".join(f"{one.session} {one.edit} {client}: {one.problem}\n{one.detail}" for one in wrong)
        if client == CLIENTS[0]:
            assert not wrong, detail
        assert len(wrong) <= 0.02 * len(total), detail
        unexplained = [one for one in wrong if (one.session, one.edit, client) not in told]
        assert not unexplained, detail


def test_a_tenth_of_all_edits_is_resumed_as_clew_says() -> None:
    paths = sessions(tenth=True)
    assert {path.parts[-5] for path in paths} >= {"2.1.325", "2.1.150", "2.1.45", "2.0.76"}
    found = measure(paths)
    assert {one.edit for one in found} == {edit.name for edit in EDITS}
    assert sum(one.was_changed for one in found) > len(found) // 3
    judge(found)
