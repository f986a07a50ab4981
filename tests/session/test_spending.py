"""What a message and a turn used and cost."""

from __future__ import annotations

from typing import Any

import pytest

from clew.session.messages import messages
from clew.session.pricing import Tokens
from clew.session.session import Session
from clew.session.spending import Spent, spent, turn_spent
from clew.session.turns import turns
from tests.session.rows import line

USAGE = {"input_tokens": 1_000_000, "output_tokens": 100_000}


def read(*answers: dict[str, Any]) -> Session:
    """A prompt and what was answered; each answer is the message, and `line` what stands beside it."""
    rows, above = [line("u", promptId="p")], "u"
    for number, answer in enumerate(answers):
        beside = answer.pop("line", {})
        message = {
            "id": f"m{number}",
            "role": "assistant",
            "model": "claude-sonnet-4-5-20250929",
            "content": [{"type": "text", "text": "words"}],
            "usage": USAGE,
        } | answer
        rows.append(line(f"a{number}", above, type="assistant", message=message, **beside))
        above = f"a{number}"
    return Session.read(b"".join(rows), name="s")


def test_a_message_costs_what_its_tokens_cost() -> None:
    session = read({})
    (message,) = messages(session)
    found = spent(session, message)
    assert found.tokens == Tokens(input=1_000_000, output=100_000)
    assert found.cost_usd == pytest.approx(3.0 + 1.5)  # 3 and 15 dollars a million


def test_a_turn_costs_what_its_messages_cost() -> None:
    session = read({}, {"usage": {"input_tokens": 0, "output_tokens": 10}}, {"usage": None})
    (turn,) = turns(session)
    found = turn_spent(session, turn)
    assert found.tokens == Tokens(input=1_000_000, output=100_010)
    assert found.cost_usd == pytest.approx(4.5 + 10 * 15e-6)


@pytest.mark.parametrize(
    "answer",
    [{"model": "<synthetic>"}, {"line": {"isApiErrorMessage": True}}, {"usage": None}, {"usage": "much"}],
    ids=str,
)
def test_what_the_client_wrote_itself_or_did_not_count_cost_nothing(answer: dict[str, Any]) -> None:
    session = read(answer)
    (message,) = messages(session)
    assert spent(session, message) == Spent()


def test_the_cost_of_an_unknown_model_is_unknown_and_so_is_each_sum_with_it() -> None:
    session = read({}, {"model": "a-model-of-tomorrow"})
    one, other = (spent(session, message) for message in messages(session))
    assert other.cost_usd is None
    assert (one + other).cost_usd is None
    assert (one + other).tokens == Tokens(input=2_000_000, output=200_000)
    (turn,) = turns(session)
    assert turn_spent(session, turn).cost_usd is None
