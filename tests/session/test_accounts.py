"""Messages of many files: each once, with its owner, in groups that add up to the same total."""

from __future__ import annotations

import io
import pickle
from collections import defaultdict
from datetime import UTC
from itertools import permutations
from typing import TYPE_CHECKING, Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.session import pricing
from clew.session.accounts import Account, By, Question, Sum, account
from clew.session.ledger import Ledger
from clew.session.pricing import Tokens
from clew.session.usage import FileUsage, Folder
from tests.session.test_usage import MODEL, answer, raw, user

if TYPE_CHECKING:
    from collections.abc import Callable

EVERY_WAY = get_args(By)
OPUS = "claude-opus-4-6"


def folded(name: str, *entries: dict[str, Any]) -> FileUsage:
    return Folder("calls").file(name, io.BytesIO(raw(*entries)))


def ledger(*files: FileUsage) -> Ledger:
    found = Ledger()
    for file in files:
        found.add(file)
    return found


def asked(by: By = "day", **more: Any) -> Question:
    return Question(by, UTC, **more)


def _always(name: str) -> Callable[[str], str]:
    return lambda _path: name


def by_key(answered: Account) -> dict[str, Sum]:
    return {group.key: group.sum for group in answered.groups}


def at(day: int, hour: int = 9) -> str:
    return f"2026-03-{day:02}T{hour:02}:00:00.000Z"


# --- one message in several files ---------------------------------------------------------------------------

ORIGINAL = folded("b", user(timestamp=at(4)), answer(timestamp=at(4)))
RESUMED = folded("a", user(timestamp=at(6)), answer(timestamp=at(6)), answer("msg_2", timestamp=at(7)))
AGES = {"b": 1, "a": 2}


def test_a_message_in_two_files_counts_once_and_belongs_to_the_older_session() -> None:
    answered = account(ledger(RESUMED, ORIGINAL), asked("session", oldest=AGES.get))
    assert {key: total.messages for key, total in by_key(answered).items()} == {"b": 1, "a": 1}
    assert answered.total.messages == 2


def test_of_two_sessions_of_one_age_the_lower_id_has_the_message() -> None:
    answered = account(ledger(ORIGINAL, RESUMED), asked("session", oldest=dict.fromkeys("ab", 7).get))
    assert {key: total.messages for key, total in by_key(answered).items()} == {"a": 2}


def test_a_session_without_any_time_is_the_youngest() -> None:
    answered = account(ledger(ORIGINAL, RESUMED), asked("session", oldest={"b": 5}.get))
    assert {key: total.messages for key, total in by_key(answered).items()} == {"b": 1, "a": 1}


def test_the_day_is_that_of_the_owners_copy() -> None:
    answered = account(ledger(RESUMED, ORIGINAL), asked("day", oldest=AGES.get))
    assert list(by_key(answered)) == ["2026-03-04", "2026-03-07"]


def test_the_age_of_a_session_is_asked_only_where_it_changes_the_answer() -> None:
    def refuse(session: str) -> int:
        raise AssertionError(session)

    fork = folded("c", user(timestamp=at(4)), answer(timestamp=at(4)), answer("msg_3", timestamp=at(5)))
    answered = account(ledger(ORIGINAL, fork), asked("day", oldest=refuse))
    assert answered.total.messages == 2
    with pytest.raises(AssertionError, match=r"b|c"):
        account(ledger(ORIGINAL, fork), asked("session", oldest=refuse))


def test_the_greatest_output_of_all_copies_counts() -> None:
    short = folded("a", answer(output=3))
    long = folded("b", answer(output=80))
    for files in ((short, long), (long, short)):
        assert account(ledger(*files), asked(oldest=AGES.get)).total.tokens.output == 80


def test_copies_of_one_output_are_told_apart_by_their_other_counts() -> None:
    some = [folded(name, answer(message={"usage": {"output_tokens": 1, "input_tokens": n}})) for name, n in
            (("a", 5), ("b", 9), ("c", 7))]  # fmt: skip
    for files in permutations(some):
        assert account(ledger(*files), asked(oldest=AGES.get)).total.tokens.input == 9


def test_a_file_of_the_same_session_makes_no_second_message() -> None:
    main, agent = folded("main", answer(timestamp=at(5))), folded("agent", answer(timestamp=at(4)))
    answered = account(ledger(main, agent), asked("day", session_of=_always("s")))
    assert {key: total.messages for key, total in by_key(answered).items()} == {"2026-03-04": 1}


_names = st.sampled_from(["s1", "s2", "s3", "s4"])
_messages = st.sampled_from([f"msg_{n}" for n in range(6)])
_lines = st.tuples(_messages, st.integers(0, 3), st.integers(1, 28), st.sampled_from([MODEL, OPUS, "who"]))
_stores = st.dictionaries(_names, st.lists(_lines, max_size=8), min_size=1)


def _store(files: dict[str, list[tuple[str, int, int, str]]]) -> list[FileUsage]:
    def line(id_: str, output: int, day: int, model: str) -> dict[str, Any]:
        blocks = [
            {"type": "tool_use", "id": f"{id_}{n}", "name": "ReadBash"[n : n + 4]} for n in range(output)
        ]
        return answer(id_, output=output, timestamp=at(day), message={"model": model, "content": blocks})

    return [folded(name, *(line(*one) for one in lines)) for name, lines in files.items()]


@given(_stores, st.randoms(use_true_random=False), st.sampled_from(EVERY_WAY))
def test_neither_the_order_of_files_nor_merging_changes_an_answer(
    files: dict[str, list[tuple[str, int, int, str]]], random: Any, by: By
) -> None:
    question = asked(by, oldest={"s1": 4, "s2": 2, "s3": 2}.get)
    true = account(ledger(*_store(files)), question)
    shuffled = _store(files)
    random.shuffle(shuffled)
    cut = random.randrange(len(shuffled) + 1)
    left, right = ledger(*shuffled[:cut]), pickle.loads(pickle.dumps(ledger(*shuffled[cut:])))
    left.merge(right)
    assert account(left, question) == true


@given(_stores, st.sampled_from(EVERY_WAY))
def test_the_rows_of_every_grouping_add_up_to_the_same_total(
    files: dict[str, list[tuple[str, int, int, str]]], by: By
) -> None:
    book = ledger(*_store(files))
    oldest = {"s1": 4, "s2": 2, "s3": 2}.get
    answered = account(book, asked(by, oldest=oldest))
    sums = defaultdict[str, Any](int)
    for group in answered.groups:
        for name in ("messages", "unpriced", "web_searches", "web_fetches"):
            sums[name] += getattr(group.sum, name)
        sums["tokens"] = group.sum.tokens + sums["tokens"] if sums["tokens"] else group.sum.tokens
        sums["cost"] += group.sum.cost_usd or 0
    total = answered.total
    assert (sums["tokens"] or Tokens()) == total.tokens
    assert (sums["messages"], sums["unpriced"]) == (total.messages, total.unpriced)
    assert sums["cost"] == pytest.approx(total.cost_usd or 0)
    assert total == account(book, asked("model", oldest=oldest)).total


def test_every_message_costs_what_pricing_says_it_costs() -> None:
    prompts = [1000, 150_000, 199_990, 250_000]
    usages = [{"input_tokens": n, "output_tokens": 10, "cache_read_input_tokens": 5} for n in prompts]
    extras: list[dict[str, Any]] = [{}, {"speed": "fast"}, {"inference_geo": "us"}, {"service_tier": "batch"}]
    extras.append({"server_tool_use": {"web_search_requests": 3}})
    extras.append({"iterations": [{"type": "advisor_message", "model": OPUS, "input_tokens": 210_000}]})
    lines = [
        answer(f"{n} {m} {day} {model}", timestamp=at(day), message={"model": model, "usage": usage | extra})
        for n, usage in enumerate(usages)
        for m, extra in enumerate(extras)
        for day in (10, 20)
        for model in (OPUS, MODEL)
    ]  # fmt: skip
    whole = 0.0
    for line in lines:
        usage = pricing.read_usage(line["message"]["usage"])
        day = 1_773_133_200_000 if "-10T" in line["timestamp"] else 1_773_997_200_000
        whole += pricing.cost_of(line["message"]["model"], usage, time_ms=day) or 0
    for by in EVERY_WAY:
        assert account(ledger(folded("f", *lines)), asked(by)).total.cost_usd == pytest.approx(whole), by


# --- groups -------------------------------------------------------------------------------------------------


def test_a_model_without_a_price_has_no_cost_and_never_a_cost_of_zero() -> None:
    answered = account(ledger(folded("f", answer(), answer("x", message={"model": "who"}))), asked("model"))
    sums = by_key(answered)
    assert sums["who"].cost_usd is None
    assert sums["who"].unpriced == 1
    assert answered.total.cost_usd == sums[MODEL].cost_usd
    assert answered.total.unpriced == 1
    assert answered.unpriced_models == ("who",)


def test_a_message_that_used_nothing_costs_nothing_whatever_its_model() -> None:
    usage = {"output_tokens": 0}
    answered = account(ledger(folded("f", answer(message={"model": "who", "usage": usage}))), asked("model"))
    assert answered.total.cost_usd == 0
    assert answered.unpriced_models == ()


def test_a_message_without_a_model_is_of_an_unknown_one() -> None:
    answered = account(ledger(folded("f", answer(message={"model": None}))), asked("model"))
    assert list(by_key(answered)) == ["unknown"]


def test_nothing_at_all_costs_nothing() -> None:
    assert account(Ledger(), asked()) == Account("day", (), Sum(), ())


def test_only_what_was_said_in_the_time_asked_for_counts() -> None:
    lines = [answer(f"m{day}", timestamp=at(day)) for day in range(1, 9)]
    undated = answer("never")
    del undated["timestamp"]
    book = ledger(folded("f", *lines, undated))
    question = asked("day", since=1_772_496_000_000, until=1_772_668_800_000)
    assert list(by_key(account(book, question))) == ["2026-03-03", "2026-03-04"]
    assert list(by_key(account(book, asked())))[-1] == "unknown"


def test_a_fork_is_in_or_out_of_the_time_asked_for_by_its_owner() -> None:
    question = asked("month", since=1_772_668_800_000, oldest=AGES.get)  # from the 5th on
    assert account(ledger(RESUMED, ORIGINAL), question).total.messages == 1


def test_tokens_are_shared_out_among_the_calls_of_a_message() -> None:
    blocks = [
        {"type": "tool_use", "id": str(n), "name": name} for n, name in enumerate(("Read", "Bash", "Read"))
    ]
    message = {"content": blocks, "usage": {"output_tokens": 11, "input_tokens": 1}}
    answered = account(ledger(folded("f", answer(message=message), answer("x", output=4))), asked("tool"))
    sums = by_key(answered)
    assert {key: (total.tokens.output, total.messages) for key, total in sums.items()} == {
        "Read": (7, 1), "Bash": (4, 0), "no call": (4, 1)
    }  # fmt: skip
    assert sums["Read"].tokens.input == 1


def test_the_calls_are_those_of_the_copy_that_has_most() -> None:
    block = {"type": "tool_use", "id": "1", "name": "Read"}
    some = [folded("a", answer()), folded("b", answer(message={"content": [block]}))]
    for files in permutations(some):
        assert list(by_key(account(ledger(*files), asked("tool")))) == ["Read"]


def test_what_an_adviser_used_is_the_advisers_by_model_and_the_messages_elsewhere() -> None:
    step = {"type": "advisor_message", "model": OPUS, "input_tokens": 400}
    book = ledger(folded("f", answer(message={"usage": {"output_tokens": 1, "iterations": [step]}})))
    models = by_key(account(book, asked("model")))
    assert (models[OPUS].tokens.input, models[OPUS].messages) == (400, 0)
    assert models[MODEL].messages == 1
    (day,) = account(book, asked("day")).groups
    assert day.sum.tokens.input == 400
    assert day.sum.models == (OPUS, MODEL)


def test_blocks_are_named_by_when_they_begin_and_the_running_one_is_known() -> None:
    times = ["2026-03-04T09:20:00.000Z", "2026-03-04T13:59:00.000Z", "2026-03-04T14:05:00.000Z"]
    book = ledger(folded("f", *(answer(time, timestamp=time) for time in times)))
    answered = account(book, asked("block"))
    assert {key: total.messages for key, total in by_key(answered).items()} == {
        "2026-03-04T09:00:00.000Z": 2, "2026-03-04T14:00:00.000Z": 1
    }  # fmt: skip
    running = answered.running_block(now=1_772_650_000_000)  # 18:46
    assert running is not None
    assert running.key == "2026-03-04T14:00:00.000Z"
    assert answered.running_block(now=1_772_652_000_000) is None
    assert account(book, asked("day")).running_block(now=1_772_650_000_000) is None


def test_a_block_goes_by_the_owners_time() -> None:
    answered = account(ledger(RESUMED, ORIGINAL), asked("block", oldest=AGES.get))
    assert list(by_key(answered)) == ["2026-03-04T09:00:00.000Z", "2026-03-07T09:00:00.000Z"]


def test_groups_that_are_no_times_come_with_the_dearest_first() -> None:
    lines = [answer(str(n), message={"model": model}) for n, model in enumerate((MODEL, OPUS, "who", OPUS))]
    assert [group.key for group in account(ledger(folded("f", *lines)), asked("model")).groups] == [
        OPUS,
        MODEL,
        "who",
    ]


def test_branches_agents_sessions_and_projects_are_groups() -> None:
    book = ledger(
        folded("f", answer("a", gitBranch="main"), answer("b", agentId="a7")), folded("g", answer("c"))
    )
    keys = {
        by: {group.key for group in account(book, asked(by, project_of=_always("p"))).groups}
        for by in ("git-branch", "agent", "session", "project")
    }
    assert keys == {
        "git-branch": {"main", "no branch"}, "agent": {"main", "a7"}, "session": {"f", "g"}, "project": {"p"}
    }  # fmt: skip
