"""The question to the person, and what comes of the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.agent.asking import Answer, Nobody, Question, plain, question, settle
from clew.agent.cancel import Cancel
from clew.agent.rules import Rules
from clew.agent.tool import Reach

if TYPE_CHECKING:
    from tests.agent.permitting.places import Place


def _asked(place: Place, line: str) -> Question:
    return question("Bash", {"command": line}, Reach(command=line), place.shell(line))


def test_a_question_says_what_and_why_and_offers_a_rule(place: Place) -> None:
    asked = _asked(place, "npm test")
    assert asked.what == "npm test"
    assert asked.why == "it runs npm test"
    assert asked.choices == ("once", "session", "rule", "no")
    assert asked.rules == ("Bash(npm test:*)",)


def test_no_lasting_answer_is_offered_for_protected_files(place: Place) -> None:
    reach = Reach(writes=(f"{place.project}/.git/config",))
    asked = question("Write", {}, reach, place.call("Write", reach))
    assert asked.choices == ("once", "no")
    assert not settle(asked, Answer("rule")).is_allowed


def test_an_answer_for_the_session_is_enough_for_the_next_time(place: Place) -> None:
    settled = settle(_asked(place, "npm test"), Answer("session"))
    assert settled.is_allowed
    assert settled.kept_rules == ()
    counted = Rules().with_allowed(settled.session_rules)
    assert place.call("Bash", Reach(command="npm test -- x"), counted=counted).verdict == "allow"
    assert place.call("Bash", Reach(command="npm publish"), counted=counted).verdict == "ask"


def test_an_answer_for_good_names_the_rules_to_keep(place: Place) -> None:
    settled = settle(_asked(place, "npm test"), Answer("rule"))
    assert settled.kept_rules == ("Bash(npm test:*)",)
    assert settle(_asked(place, "npm test"), Answer("once")).session_rules == ()


def test_a_no_is_told_in_the_clients_words_with_the_persons(place: Place) -> None:
    asked = _asked(place, "npm test")
    assert settle(asked, Answer("no")).told.endswith("wait for the user to tell you how to proceed.")
    assert settle(asked, Answer("no", "use make")).told.endswith("the user said:\nuse make")
    assert not settle(asked, Answer("no", "yes")).is_allowed


def test_without_anybody_to_ask_the_model_is_told_what_would_be_needed(place: Place) -> None:
    asked = _asked(place, "npm test")
    settled = settle(asked, Nobody().ask(asked, Cancel()))
    assert not settled.is_allowed
    assert "nobody can be asked" in settled.told
    assert "Bash(npm test:*)" in settled.told
    assert "doesn't want" not in settled.told


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("a\nb", "a\nb"),
        ("a\rb", "a\\x0db"),
        ("\x1b[2Jx", "\\x1b[2Jx"),
        ("a\u202eb", "a\\u202eb"),
        ("a\u200bb", "a\\u200bb"),
        ("a\u2028b", "a\\u2028b"),
        ("a\u00a0b", "a\\xa0b"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
        ("grüße 東京 🙂", "grüße 東京 🙂"),
    ],
)
def test_nothing_in_a_question_hides_or_moves_anything(text: str, seen: str) -> None:
    assert plain(text) == seen


def test_a_long_command_is_shown_from_both_ends() -> None:
    shown = plain("begin" + "x" * 50_000 + "; rm -rf /")
    assert shown.startswith("begin")
    assert shown.endswith("; rm -rf /")
    assert len(shown) < 5000


@given(st.text())
def test_what_is_shown_has_no_sign_that_a_terminal_would_act_on(text: str) -> None:
    assert all(sign == "\n" or sign.isprintable() for sign in plain(text))


@settings(max_examples=30)
@given(
    st.dictionaries(
        st.text(max_size=20),
        st.recursive(st.none() | st.text(max_size=20) | st.floats(), st.lists, max_leaves=10),
        max_size=5,
    )
)
def test_any_input_can_be_asked_about(given_input: dict[str, object]) -> None:
    from clew.agent.permissions import Decision

    question("Odd", given_input, Reach(is_foreign=True), Decision("ask", "why"))
