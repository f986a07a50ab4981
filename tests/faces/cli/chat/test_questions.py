"""A question shows all of what it is about, and is answered by keys that were meant for it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from clew.agent.asking import Answer, Question
from clew.agent.settings import Grant
from clew.faces.cli.chat.engine import Asked
from clew.faces.cli.chat.keys import Key
from clew.faces.cli.chat.questions import SETTLES, Asking, said
from clew.faces.cli.styled import text_of

QUESTION = Question(
    "Bash", "make\nrm -rf build", "it writes", ("once", "session", "rule", "no"), ("Bash(make:*)",)
)
FIRM = Question("Bash", "sudo x", "it may do anything", ("once", "no"))


def asking(question: Question | tuple[Grant, ...] = QUESTION) -> Asking:
    return Asking(Asked(question), 0.0)


def press(one: Asking, *keys: str) -> Answer | bool | None:
    for key in keys:
        one.press(Key(key) if key in ("enter", "escape", "backspace") else Key("text", key))
    return one.asked.answered


def test_what_is_asked_is_shown_whole() -> None:
    rows = [text_of(row) for row in asking().told(40)]
    assert rows == ["? May Bash do this?", "  │ make", "  │ rm -rf build", "  because it writes"]
    long = Question("Bash", "x" * 3000, "y", ("once", "no"))
    assert "".join(text_of(row) for row in asking(long).told(40)).count("x") == 3000


def test_what_a_file_would_become_is_shown() -> None:
    given: dict[str, object] = {"file_path": "a", "old_string": "one\ntwo", "new_string": "three"}
    rows = [text_of(row) for row in asking(replace(QUESTION, given=given)).told(40)]
    assert rows[3:6] == ["  │ − one", "  │ − two", "  │ + three"]
    many: dict[str, object] = {"content": "\n".join(map(str, range(100)))}
    rows = [text_of(row) for row in asking(replace(QUESTION, given=many)).told(40)]
    assert rows[-2] == "  │ + 88 lines more"


@pytest.mark.parametrize(("key", "choice"), [("y", "once"), ("s", "session"), ("a", "rule"), ("n", "no")])
def test_each_answer_has_its_key(key: str, choice: str) -> None:
    answer = press(asking(), key)
    assert isinstance(answer, Answer)
    assert answer.choice == choice


@pytest.mark.parametrize("key", ["s", "a", "enter", "Y", "yy", "x", " "])
def test_other_keys_are_no_answer(key: str) -> None:
    assert press(asking(FIRM), key) is None


def test_a_paste_is_no_answer() -> None:
    one = asking()
    one.press(Key("paste", "y"))
    assert one.asked.answered is None


def test_a_no_can_have_words() -> None:
    one = asking()
    assert press(one, "t") is None
    assert text_of(next(one.choices(80))).startswith("No. What shall be done instead?")
    assert press(one, "y", "enter") == Answer("no", "y")


def test_the_words_can_be_given_up() -> None:
    one = asking()
    assert press(one, "t", "abc", "escape") is None
    assert press(one, "y") == Answer("once")


def test_the_choices_are_those_there_are() -> None:
    assert len([*asking().choices(80)]) == 5
    assert [text_of(row) for row in asking(FIRM).choices(80)] == [
        "  y  yes, once",
        "  n  no",
        "  t  no, and tell why",
    ]


def test_a_project_counts_only_by_a_yes() -> None:
    grants = (Grant("hook", "PreToolUse: rm -rf /", "d"),)
    one = asking(grants)
    assert "  │ hook: PreToolUse: rm -rf /" in [text_of(row) for row in one.told(80)]
    assert press(one, "enter") is None
    assert press(one, "y") is True
    assert press(asking(grants), "n") is False
    assert press(asking(grants), "escape") is False


def test_a_key_of_before_is_not_meant_for_the_question() -> None:
    one = asking()
    assert not one.is_meant(SETTLES / 2)
    assert one.is_meant(SETTLES)


def test_a_second_answer_is_not_heard() -> None:
    asked = Asked(QUESTION)
    asked.answer(Answer("no"))
    asked.answer(Answer("once"))
    assert asked.wait() == Answer("no")


def test_answers_have_words() -> None:
    assert said(Answer("once")) == "yes, once"
    assert said(Answer("no", "not that")) == "no: not that"
    assert said(Answer("no")) == "no"
    assert said(True) == "yes, they count"
