"""`clew usage` over whole stores: exactly the truth, whatever the files look like and however it is read."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from bench.generate import Recipe, generate
from clew.actions import usage as action
from clew.actions.usage import Request, usage
from clew.errors import UsageError
from clew.session.pricing import DATE
from tests.session.test_usage import answer, raw, user

DATA = Path(__file__).parents[1] / "data" / "corpus"
NOW = 1_794_800_000_000
KINDS = ("input", "output", "cache_read", "cache_write_5m", "cache_write_1h")
VARIANTS = {
    "plain": Recipe(2_000_000),
    "shuffled": Recipe(2_000_000, shuffled_keys=True),
    "spaced": Recipe(2_000_000, spaced=True),
    "no request ids": Recipe(2_000_000, request_ids=False),
    "everything": Recipe(3_000_000, 2, shuffled_keys=True, spaced=True, request_ids=False),
}


def counted(root: Path, by: Any = "day", **more: Any) -> dict[str, Any]:
    """Return the JSON document, having gone through JSON."""
    return json.loads(json.dumps(usage(Request(by, (str(root),), tz="UTC", **more), now=NOW).as_json()))


def put(root: Path, name: str, data: bytes) -> Path:
    path = root / "projects" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


# --- the truth ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", VARIANTS)
def test_token_totals_are_exactly_the_truth(name: str, tmp_path: Path) -> None:
    root = tmp_path / "store"
    generate(root, VARIANTS[name])
    truth = json.loads((root / "truth.json").read_text())
    for by in ("day", "model", "project"):
        found = counted(root, by)
        assert found["total"]["tokens"] == truth["total"]["tokens"]
        assert found["total"]["messages"] == truth["total"]["messages"]
        rows = {row["key"]: {"tokens": row["tokens"], "messages": row["messages"]} for row in found["rows"]}
        assert rows == truth[f"by_{by}"], by


def naive(folder: Path) -> dict[str, list[int]]:
    """Count the tokens of a folder in the plainest way: `json.loads` for every line."""
    best: dict[str, Any] = {}
    for path in sorted(folder.rglob("*.jsonl")):
        for line in path.read_bytes().split(b"\n"):
            try:
                entry: Any = json.loads(line)
                message: Any = entry["message"]
                model: str = message["model"]
            except (ValueError, KeyError, TypeError):
                continue
            if entry.get("type") != "assistant" or model == "<synthetic>" or entry.get("isApiErrorMessage"):
                continue
            before: Any = best.get(message["id"], message)
            if message["usage"]["output_tokens"] >= before["usage"]["output_tokens"]:
                best[message["id"]] = message
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0, 0])
    for message in best.values():
        used: Any = message["usage"]
        split: Any = used.get("cache_creation") or {}
        long: int = split.get("ephemeral_1h_input_tokens", 0)
        tokens: list[int] = [used["input_tokens"], used["output_tokens"], used["cache_read_input_tokens"]]
        tokens += [used["cache_creation_input_tokens"] - long, long]
        mine = sums[message["model"]]
        sums[message["model"]] = [one + more for one, more in zip(mine, tokens, strict=True)]
    return sums


def test_an_independent_count_of_the_corpus_gives_the_same_totals(tmp_path: Path) -> None:
    stores = sorted(path.parent for path in DATA.rglob("projects"))
    assert len(stores) > 20
    for store in stores:
        found = {
            row["key"]: [row["tokens"][kind] for kind in KINDS] for row in counted(store, "model")["rows"]
        }
        assert found == naive(store), store
    # Runs share ids where one went on from another's files, so all of them together are a case of its own.
    for number, store in enumerate(stores):
        shutil.copytree(store / "projects", tmp_path / "projects" / str(number), dirs_exist_ok=True)
    flat = tmp_path / "all" / "projects"
    for number, path in enumerate(sorted(tmp_path.rglob("*.jsonl"))):
        (flat / str(number)).mkdir(parents=True)
        shutil.copy(path, flat / str(number) / path.name)
    found = {
        row["key"]: [row["tokens"][kind] for kind in KINDS] for row in counted(flat.parent, "model")["rows"]
    }
    assert found == naive(flat)


# --- processes ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("store") / "made"
    generate(root, Recipe(1_500_000, 3))
    return root


@pytest.mark.parametrize("start", ["fork", "spawn"])
@pytest.mark.parametrize("by", ["day", "session"])
def test_several_processes_give_the_same_answer_however_they_are_started(
    store: Path, start: str, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if start not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {start} here")
    context = multiprocessing.get_context(start)
    monkeypatch.setattr(multiprocessing, "Pool", context.Pool)
    assert counted(store, by, jobs=3) == counted(store, by, jobs=1)


def test_more_processes_than_files_are_no_trouble(tmp_path: Path) -> None:
    put(tmp_path, "p/a", raw(answer()))
    assert counted(tmp_path, jobs=8)["total"]["messages"] == 1
    assert counted(tmp_path / "nothing", jobs=8)["rows"] == []


def test_a_small_store_is_read_by_one_process(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(multiprocessing, "Pool", refuse)
    assert counted(store, jobs=None)["rows"]


def test_progress_is_told_of_every_file(store: Path) -> None:
    for jobs in (1, 2):
        told: list[int] = []
        result = usage(Request(roots=(str(store),), jobs=jobs), now=NOW, progress=told.append)
        assert sum(told) == result.files > 10


# --- the shape ----------------------------------------------------------------------------------------------


def test_the_document_has_the_promised_shape(store: Path) -> None:
    found = counted(store)
    assert list(found)[:5] == ["by", "rows", "total", "prices", "unpriced_models"]
    assert found["by"] == "day"
    assert found["prices"]["date"] == DATE
    assert found["unpriced_models"] == ["claude-unlisted-9-20260901"]
    row = found["rows"][0]
    assert list(row)[:5] == ["key", "models", "tokens", "messages", "cost_usd"]
    assert tuple(row["tokens"]) == KINDS
    assert list(found["total"])[:3] == ["tokens", "messages", "cost_usd"]
    keys = [row["key"] for row in found["rows"]]
    assert keys == sorted(keys)


def test_unknown_is_null_and_never_zero(tmp_path: Path) -> None:
    put(tmp_path, "p/a", raw(answer(message={"model": "claude-who-9"})))
    found = counted(tmp_path, "model")
    assert found["rows"][0]["cost_usd"] is None
    assert found["total"]["cost_usd"] is None
    assert found["unpriced_models"] == ["claude-who-9"]


def test_a_session_stands_beside_the_clients_own_account(tmp_path: Path) -> None:
    state = {"type": "cost-state", "totalCostUSD": 1.25}
    put(tmp_path, "p/s1", raw(user(cwd="/home/ada/shop"), answer(), state))
    put(tmp_path, "p/s1/subagents/agent-a1", raw(answer("msg_2")))
    put(tmp_path, "p/s2", raw(user(cwd="/home/ada/api"), answer("msg_3")))
    rows = {row["key"]: row for row in counted(tmp_path, "session")["rows"]}
    assert rows["s1"]["messages"] == 2, "its sub-agent's too"
    assert rows["s1"]["project"] == "/home/ada/shop"
    assert rows["s1"]["client_cost_usd"] == 1.25
    assert rows["s1"]["difference_usd"] == pytest.approx(rows["s1"]["cost_usd"] - 1.25)
    assert rows["s2"]["client_cost_usd"] is None


def test_our_sums_agree_with_the_client_wherever_it_left_its_own() -> None:
    """All but the sessions in which the client asked for more than the transcript holds."""
    differences = [
        row["difference_usd"]
        for store in sorted(path.parent for path in DATA.glob("2.1.325/*/projects"))
        for row in counted(store, "session")["rows"]
        if row["client_cost_usd"] is not None
    ]
    # The others: a compaction's own request is in no line, a killed client wrote too little, a fork's client
    # counts what its source had cost.
    assert len(differences) == 31
    assert sum(abs(one) < 1e-12 for one in differences) == 27


def test_blocks_say_when_they_begin_and_end_and_which_one_runs(tmp_path: Path) -> None:
    put(tmp_path, "p/a", raw(answer(timestamp="2026-11-16T03:20:00.000Z")))
    (row,) = counted(tmp_path, "block")["rows"]
    assert (row["started"], row["ended"]) == ("2026-11-16T03:00:00.000Z", "2026-11-16T08:00:00.000Z")
    assert row["active"] is True
    (row,) = usage(Request("block", (str(tmp_path),)), now=NOW + 10**8).rows()
    assert row["active"] is False


# --- whose a message is -------------------------------------------------------------------------------------


def test_a_sub_agents_messages_are_its_sessions_in_every_layout(tmp_path: Path) -> None:
    put(tmp_path, "p/s1", raw(user(cwd="/w", sessionId="s1")))
    flat = [entry | {"sessionId": "s1", "isSidechain": True} for entry in (user(), answer("msg_f"))]
    put(tmp_path, "p/agent-00000001", raw(*flat))
    put(tmp_path, "p/s1/subagents/agent-a2", raw(answer("msg_n", sessionId="other")))
    assert [row["key"] for row in counted(tmp_path, "session")["rows"]] == ["s1"]
    assert [row["key"] for row in counted(tmp_path, "project")["rows"]] == ["/w"]
    assert {row["key"] for row in counted(tmp_path, "agent")["rows"]} == {"00000001", "a2"}


def test_a_sub_agent_whose_session_is_gone_still_counts(tmp_path: Path) -> None:
    put(tmp_path, "p/gone/subagents/agent-a2", raw(answer(cwd="/w")))
    assert [row["key"] for row in counted(tmp_path, "session")["rows"]] == ["gone"]
    assert [row["key"] for row in counted(tmp_path, "project")["rows"]] == ["/w"]


def test_a_session_that_names_no_folder_is_of_its_project_folder(tmp_path: Path) -> None:
    put(tmp_path, "-home-ada/s1", raw(answer()))
    assert [row["key"] for row in counted(tmp_path, "project")["rows"]] == ["-home-ada"]


def test_a_fork_has_only_what_is_its_own(tmp_path: Path) -> None:
    """The oldest line of a session may be any line, of any kind, anywhere in its file."""
    said = [user(timestamp="2026-03-04T09:00:00.000Z"), answer(timestamp="2026-03-04T09:01:00.000Z")]
    older = {"type": "system", "timestamp": "2026-03-04T10:59:59+02:00"}
    put(tmp_path, "p/a", raw(*said, answer("msg_a")))
    put(tmp_path, "p/b", raw(*said, answer("msg_b"), older))
    rows = {row["key"]: row["messages"] for row in counted(tmp_path, "session")["rows"]}
    assert rows == {"a": 1, "b": 2}


# --- time ---------------------------------------------------------------------------------------------------


def test_days_are_those_of_the_zone_asked_for(tmp_path: Path) -> None:
    put(tmp_path, "p/a", raw(answer(timestamp="2026-03-04T23:30:00.000Z")))
    for zone, day in (
        ("UTC", "2026-03-04"),
        ("Europe/Berlin", "2026-03-05"),
        ("America/New_York", "2026-03-04"),
    ):
        assert [row["key"] for row in usage(Request(roots=(str(tmp_path),), tz=zone)).rows()] == [day]


def test_since_and_until_are_days_moments_or_ages(tmp_path: Path) -> None:
    days = [f"2026-11-{day:02}T12:00:00.000Z" for day in range(1, 16)]
    put(tmp_path, "p/a", raw(*(answer(day, timestamp=day) for day in days)))
    bounds = [
        {"since": "2026-11-10"},
        {"until": "2026-11-03"},
        {"since": "2026-11-05", "until": "2026-11-05"},
    ]
    assert [counted(tmp_path, **bound)["total"]["messages"] for bound in (*bounds, {"since": "3d"})] == [
        6,
        3,
        1,
        3,
    ]


@pytest.mark.parametrize(
    "wrong", [{"since": "soon"}, {"until": "2026-99-99"}, {"tz": "Moon/Base"}, {"tz": "Europe"}]
)
def test_what_makes_no_sense_is_refused_with_a_hint(wrong: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        usage(Request(roots=(str(tmp_path),), **wrong))
    assert caught.value.hint


# --- trouble ------------------------------------------------------------------------------------------------


def test_damage_and_unreadable_files_are_told_and_the_rest_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, "p/a", raw(answer())[:-20] + b"\n" + raw(answer("msg_2")))
    gone = put(tmp_path, "p/b", raw(answer("msg_3")))
    real = action.open_regular

    def lose(path: str, **told: bool) -> Any:
        if path == str(gone):
            gone.unlink()
        return real(path, **told)

    monkeypatch.setattr(action, "open_regular", lose)
    result = usage(Request(roots=(str(tmp_path),)), now=NOW)
    assert result.account.total.messages == 1
    assert result.damaged == 1
    assert [one.path for one in result.unread] == [str(gone)]
    assert result.is_flawed


def test_pipes_and_devices_are_never_opened(tmp_path: Path) -> None:
    put(tmp_path, "p/a", raw(answer()))
    os.mkfifo(tmp_path / "projects" / "p" / "pipe.jsonl")
    result = usage(Request(roots=(str(tmp_path),)), now=NOW)
    assert result.account.total.messages == 1
    assert len(result.skipped) == 1
    assert not result.is_flawed
