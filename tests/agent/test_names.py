"""Readable names."""

from __future__ import annotations

import re
from random import Random

from clew.agent.names import ADJECTIVES, NOUNS, VERBS, session_slug


def test_a_name_is_three_plain_words_and_the_same_for_the_same_draw() -> None:
    assert re.fullmatch(r"[a-z]+-[a-z]+ing-[a-z]+", session_slug(Random(1)))
    assert session_slug(Random(7)) == session_slug(Random(7))
    assert len({session_slug(Random(n)) for n in range(500)}) > 490


def test_there_are_words_enough_and_each_once() -> None:
    for words in (ADJECTIVES, VERBS, NOUNS):
        assert len(words) >= 60
        assert len(set(words)) == len(words)
        assert all(re.fullmatch("[a-z]+", word) for word in words)
