"""The form in which messages are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.conformance.notation import normal, short, without_prompt

if TYPE_CHECKING:
    from tests.conformance.notation import Json

REMINDER = "<system-reminder>\nof the run\n</system-reminder>"


def test_a_string_is_one_text_block() -> None:
    assert normal([{"role": "user", "content": "hi"}]) == normal(
        [
            {
                "role": "user",
                "content": [{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}],
            }
        ]
    )


def test_reminders_go_wherever_they_stand() -> None:
    result = {"type": "tool_result", "tool_use_id": "t", "content": f"out\n\n{REMINDER}"}
    array = {"type": "tool_result", "tool_use_id": "u", "content": [{"type": "text", "text": REMINDER}]}
    sent = [
        {"role": "user", "content": REMINDER},
        {"role": "user", "content": [result, array, {"type": "text", "text": f"{REMINDER}\n"}]},
    ]
    assert normal(sent) == [
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t", "content": "out"},
                {"type": "tool_result", "tool_use_id": "u", "content": []},
            ],
        }
    ]


def test_everything_else_counts() -> None:
    block: dict[str, Json] = {"type": "tool_result", "tool_use_id": "t", "content": "x"}
    changes: list[dict[str, Json]] = [
        {"is_error": True},
        {"content": "y"},
        {"tool_use_id": "u"},
        {"content": "x "},
    ]
    for change in changes:
        one, other = ([{"role": "user", "content": [each]}] for each in (block, block | change))
        assert normal(one) != normal(other)
    assert normal([{"role": "user", "content": ""}]) != normal([])
    assert normal([{"role": "assistant", "content": "a"}] * 2) != normal(
        [{"role": "assistant", "content": "a"}]
    )


def test_the_prompt_is_taken_off_the_end() -> None:
    prompt = {"role": "user", "content": [{"type": "text", "text": REMINDER}, {"type": "text", "text": "GO"}]}
    answer = {"role": "assistant", "content": "a"}
    joined = {"role": "user", "content": [{"type": "text", "text": "q\n"}, {"type": "text", "text": "GO"}]}
    assert without_prompt([answer, prompt], "GO") == normal([answer])
    assert without_prompt([joined], "GO") == normal([{"role": "user", "content": "q"}])
    assert without_prompt([answer], "GO") == normal([answer])


def test_the_short_form_names_each_block() -> None:
    content: list[Json] = [
        {"type": "thinking", "thinking": "a long thought"},
        {"type": "text", "text": "two\nlines"},
        {"type": "tool_use", "id": "t1", "name": "Bash", "input": {}},
        {"type": "image"},
    ]
    results: list[Json] = [{"type": "tool_result", "tool_use_id": "t1", "content": [], "is_error": True}]
    assert short([{"role": "assistant", "content": content}, {"role": "user", "content": results}]) == [
        "A[TH:a long tho | T:two lines | TU:Bash:t1 | image]",
        "U[TR:t1!:[]]",
    ]
