"""Stores whose tokens are known by construction are counted to the token, whichever way they are asked."""

from __future__ import annotations

import io
from datetime import UTC
from itertools import permutations
from typing import TYPE_CHECKING, get_args

import pytest

from clew.session.accounts import By, Question, account
from clew.session.ledger import Ledger
from clew.session.pricing import Tokens
from clew.session.usage import Folder
from tests.session.usage_cases import CASES

if TYPE_CHECKING:
    from tests.session.usage_cases import Case


def ledger_of(case: Case, names: tuple[str, ...]) -> Ledger:
    folder, found = Folder("calls"), Ledger()
    for name in names:
        agent = name.removeprefix("agent-").removesuffix(".jsonl") if name.startswith("agent-") else None
        found.add(folder.file(name, io.BytesIO(case.files[name]), agent=agent))
    return found


@pytest.mark.parametrize("by", get_args(By))
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_answer_is_counted_once_and_whole(case: Case, by: By) -> None:
    for names in permutations(case.files):
        total = account(ledger_of(case, names), Question(by, UTC)).total
        assert total.tokens == case.truth
        assert total.messages == case.answers


def test_the_truth_of_each_store_is_what_its_words_say() -> None:
    """Worked out by hand, so that a slip in making the stores is seen."""
    assert {case.name: (case.answers, case.truth) for case in CASES} == {
        "respelled": (3, Tokens(300, 120, 3_000, 600)),
        "without request ids": (2, Tokens(200, 80, 2_000, 400)),
        "resumed copy": (3, Tokens(300, 120, 3_000, 600)),
        "fork": (4, Tokens(400, 160, 4_000, 800)),
        "rewound": (4, Tokens(400, 160, 4_000, 800)),
        "sub-agent": (3, Tokens(300, 120, 3_000, 600)),
        "streamed": (2, Tokens(200, 1_000, 2_000, 400)),
        "one hour": (2, Tokens(200, 80, 2_000, 110, 8_000)),
        "torn": (3, Tokens(300, 120, 3_000, 600)),
    }
