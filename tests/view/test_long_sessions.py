"""A session of a strange shape is drawn in a time that grows with its length, not with its square."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.view.sessions import timeline

if TYPE_CHECKING:
    from collections.abc import Callable

FEW, MANY = 700, 5600
"""Eight times as long; a square would take sixty-four times as long."""

PROMPT = {"type": "user", "uuid": "p", "message": {"role": "user", "content": "hi"}}


def answer(number: int, *content: dict[str, Any], message: str | None = None) -> dict[str, Any]:
    inner = {"id": message or f"m{number}", "role": "assistant", "content": list(content)}
    return {"type": "assistant", "uuid": f"a{number}", "message": inner}


def use(number: int, name: str = "Bash", **more: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"t{number}", "name": name, "input": {}, **more}


def result(number: int, *names: str) -> dict[str, Any]:
    content = [{"type": "tool_result", "tool_use_id": name, "content": "a"} for name in names]
    return {"type": "user", "uuid": f"r{number}", "message": {"role": "user", "content": content}}


def prompts(count: int) -> list[dict[str, Any]]:
    return [{**PROMPT, "uuid": f"u{number}"} for number in range(count)]


def calls_in_one_line(count: int) -> list[dict[str, Any]]:
    names = [f"t{number}" for number in range(count)]
    return [PROMPT, answer(0, *(use(number) for number in range(count))), result(0, *names)]


def lines_of_one_message(count: int) -> list[dict[str, Any]]:
    return [PROMPT, *(answer(number, use(number), message="m") for number in range(count))]


def results_of_nobody(count: int) -> list[dict[str, Any]]:
    lists = [answer(number, use(number, "TodoWrite", input={"todos": []})) for number in range(count)]
    return [PROMPT, *lists, *(result(number, f"x{number}") for number in range(count))]


def queue(count: int) -> list[dict[str, Any]]:
    line = {"type": "queue-operation", "operation": "enqueue"}
    said = [{**line, "content": f"c{number}"} for number in range(count)]
    return [PROMPT, *said, *({**line, "operation": "remove"} for _ in said)]


def taken(lines: list[dict[str, Any]]) -> float:
    data = b"\n".join(json.dumps(line).encode() for line in lines)
    best = 60.0
    for _ in range(2):
        found = timeline(data)
        start = time.process_time()
        assert sum(1 for view in found.turns() for _ in view.flow())
        found.head()
        best = min(best, time.process_time() - start)
    return best


@pytest.mark.parametrize(
    "shape", [prompts, calls_in_one_line, lines_of_one_message, results_of_nobody, queue]
)
def test_time_grows_with_the_length(shape: Callable[[int], list[dict[str, Any]]]) -> None:
    few, many = taken(shape(FEW)), taken(shape(MANY))
    assert many < 30 * max(few, 0.003), (few, many)
