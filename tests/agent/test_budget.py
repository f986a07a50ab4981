"""What a run may still cost."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from clew.agent.budget import Budget, BudgetSpentError
from tests.agent.told import MODEL

MILLION = {"input_tokens": 1_000_000, "output_tokens": 0}


def test_without_limits_there_is_always_another_request() -> None:
    budget = Budget()
    for _ in range(1000):
        budget.ask()
        budget.spend(MODEL, MILLION)
    assert budget.requests == 1000


def test_the_money_is_spent_when_it_is_spent_and_not_before() -> None:
    budget = Budget(max_cost=4.0)
    for _ in range(2):
        budget.ask()
        assert budget.spend(MODEL, MILLION) == pytest.approx(3.0)
    with pytest.raises(BudgetSpentError, match=r"\$6.0000 of \$4.0000") as found:
        budget.ask()
    assert (found.value.code, found.value.exit_code) == ("budget-spent", 1)
    assert "--resume" in (found.value.hint or "")
    assert budget.requests == 2


def test_requests_are_counted_for_each_prompt_anew() -> None:
    budget = Budget(max_turns=2)
    for _ in range(3):
        budget.begin_turn()
        budget.ask()
        budget.ask()
        with pytest.raises(BudgetSpentError, match="2 requests"):
            budget.ask()


def test_requests_that_are_not_the_prompts_own_cost_but_do_not_count() -> None:
    budget = Budget(max_turns=1, max_cost=1.0)
    budget.ask()
    for _ in range(5):
        budget.ask(counts=False)
    budget.spend(MODEL, MILLION)
    with pytest.raises(BudgetSpentError, match="are spent"):
        budget.ask(counts=False)


def test_a_model_without_a_price_has_no_limit_that_could_be_kept() -> None:
    budget = Budget(max_cost=1.0)
    budget.ask()
    assert budget.spend("a-model-nobody-knows", MILLION) is None
    with pytest.raises(BudgetSpentError, match="no price"):
        budget.ask()
    free = Budget()
    free.spend("a-model-nobody-knows", MILLION)
    free.ask()
    assert (free.unpriced, free.cost_usd) == (1, 0.0)


@pytest.mark.parametrize(
    "usage", [{}, {"input_tokens": None}, {"input_tokens": "7"}, {"input_tokens": -5}, {"output_tokens": [1]}]
)
def test_odd_usage_never_gives_money_back(usage: dict[str, Any]) -> None:
    budget = Budget(max_cost=1.0)
    budget.spend(MODEL, usage)
    assert budget.cost_usd >= 0
    budget.ask()


def test_nothing_is_lost_when_several_spend_at_once() -> None:
    budget = Budget()

    def spend() -> None:
        for _ in range(500):
            budget.spend(MODEL, {"input_tokens": 1000, "output_tokens": 0})

    threads = [threading.Thread(target=spend) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert budget.cost_usd == pytest.approx(2000 * 0.003)
