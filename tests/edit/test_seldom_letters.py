"""Words looked for by their seldom letters: nothing is lost by it."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from clew.edit.secret_rules import RULES
from clew.edit.secret_words import has_words
from clew.edit.seldom_letters import Words

LETTERS = "abkw_-. "
WORDS = st.lists(st.text(LETTERS.strip(), min_size=1, max_size=5), min_size=1, max_size=12, unique=True)


def plainly(words: list[str], followed: dict[str, str], text: str) -> dict[int, set[str]]:
    """Where words begin, by trying each at each place; one that counts before something only there."""
    found: dict[int, set[str]] = {}
    for word in words:
        then = followed.get(word, "")
        for match in re.finditer(f"(?={re.escape(word)}{then})", text):
            found.setdefault(match.start(), set()).add(word)
    return found


@given(WORDS, st.text(LETTERS, max_size=60), st.data())
@example(["pat", "glpat-", "-"], "xglpat-", None)
def test_every_place_where_a_word_begins_is_told_once(
    words: list[str], text: str, data: st.DataObject | None
) -> None:
    """One that counts only before something is told only there."""
    chosen = [] if data is None else data.draw(st.lists(st.sampled_from(words), unique=True))
    followed = dict.fromkeys(chosen, "[a-b ]")
    looked = Words(words, followed)
    plain = plainly(words, followed, text)
    told = list(looked.find(text))
    starts = [at for at, _ in told]
    assert len(starts) == len(set(starts))
    assert set(starts) == set(plain)
    assert all(word in plain[at] for at, word in told)
    assert looked.is_in(text) == bool(plain)


def test_all_words_of_the_rules_are_seen_wherever_they_stand() -> None:
    """Each with what follows it in a secret, whatever stands around it."""
    value = "=a1b2c3d4e5f6"
    follows = {
        "pat": "abcdefghijklmn.", "sk": "0" * 32, "-us": "1", "-u": " ", "dd_": "ap", "dd-": "ap",
        "auth": '":', "machine": " host login ", "token": value, "secret": value,
        "credential": value, "_key": value, "-key": value,
        "key-": "0" * 32, "-token": " ", "-secret": "=",
        "oracle": ":", "://": "user:pass@", "eaaa": "x" * 60,
    }  # fmt: skip
    for word in {word for rule in RULES for word in rule.words}:
        for then in {follows.get(word, ""), follows.get(word, "").upper()}:
            assert has_words(f"the first line\n{word.upper()}{then} the end"), word
