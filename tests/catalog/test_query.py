"""A question in words: read as people mean it, and answered by FTS5 and by `match` alike."""

from __future__ import annotations

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from clew.catalog.query import DEEPEST, parse
from clew.catalog.tokens import tokens
from clew.errors import UsageError
from tests.catalog.full_text import Index
from tests.examples import examples

WORDS = [
    *(
        "refund",
        "webhook",
        "Refund",
        "réfund",
        "refunds",
        "ref",
        "a",
        "b",
        "AND",
        "not",
        "src/app.py",
        "foo-bar",
    ),
    *(
        "日本語",
        "日本",
        "語",
        "本語学",
        "検索エンジン",
        "한국어",
        "한",
        "ภาษาไทย",
        "ที่",
        "हिन्दी",
        "x日本y",
        "→",
        "🧶",
        "C++",
    ),
]
texts = st.lists(st.sampled_from(WORDS), max_size=8).flatmap(
    lambda words: st.sampled_from([" ", "", ", ", "\n", '"', "-", "("]).map(lambda glue: glue.join(words))
)
operators = st.sampled_from(["AND", "OR", "NOT", "(", ")", "-", '"', "*", "-(", '-"', '"*', " "])
questions = st.lists(
    st.sampled_from(WORDS) | operators | st.text(max_size=6), min_size=1, max_size=10
).flatmap(lambda parts: st.sampled_from([" ", ""]).map(lambda glue: glue.join(parts)))


@pytest.fixture(scope="module")
def index() -> Index:
    return Index()


@examples(700)
@given(
    question=questions | st.text(max_size=30), rows=st.lists(st.tuples(texts, texts), min_size=1, max_size=4)
)
@example("日本語", [("x日本語", "")])
@example("語", [("日本語", "語"), ("日本", "")])
@example("a b", [("a", "b"), ("a", "")])
@example("a NOT b", [("a", "b"), ("a", "")])
def test_fts5_takes_any_question_and_answers_as_match_does(
    index: Index, question: str, rows: list[tuple[str, str]]
) -> None:
    try:
        query = parse(question)
    except UsageError:
        return
    index.put(*rows)
    ours = [number for number, row in enumerate(rows, 1) if query.match_all(row) is not None]
    assert index.find(query.fts()) == ours
    assert index.find(query.fts(("one", "other"))) == ours
    in_one = [number for number, (one, _) in enumerate(rows, 1) if query.match(one) is not None]
    assert index.find(query.fts(("one",))) == in_one


@examples(500)
@given(text=st.text(max_size=60) | texts, data=st.data())
def test_any_words_of_a_text_find_it(index: Index, text: str, data: st.DataObject) -> None:
    found = [*tokens(text)]
    assume(found)
    first = data.draw(st.integers(0, len(found) - 1))
    last = data.draw(st.integers(first, min(len(found) - 1, first + 5)))
    start, end = found[first].start, found[last].end
    query = parse('"' + text[start:end].replace('"', " ") + '"')
    index.put((text, ""))
    assert index.find(query.fts()) == [1]
    ranges = query.match(text)
    assert ranges is not None
    assert any(begin <= start < stop for begin, stop in ranges)


@examples(400)
@given(run=st.text(st.sampled_from("日本語検索工具한국어テスト"), min_size=1, max_size=12), data=st.data())
def test_any_stretch_of_a_run_finds_it_and_no_other_does(run: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(run) - 1))
    end = data.draw(st.integers(start + 1, len(run)))
    stretch = run[start:end]
    ranges = parse(stretch).match(f"abc{run}def")
    assert ranges is not None
    assert all(stretch in f"abc{run}def"[begin:stop] for begin, stop in ranges)
    other = data.draw(st.text(st.sampled_from("日本語検索工具"), min_size=1, max_size=4))
    assert (parse(other).match(run) is not None) == (other in run)


@examples(300)
@given(text=st.lists(texts, max_size=4).map(" ".join), padding=st.integers(0, 9000), question=questions)
def test_where_in_a_long_text_a_word_stands_makes_no_difference(
    text: str, padding: int, question: str
) -> None:
    try:
        query = parse(question)
    except UsageError:
        return
    filler = " ;" * padding
    found = query.match(text)
    moved = query.match(filler + text + filler)
    assert (found is None) == (moved is None)
    if found is not None and moved is not None:
        assert [(start + 2 * padding, end + 2 * padding) for start, end in found] == moved


@pytest.mark.parametrize(
    ("question", "written"),
    [
        ("refund webhook", '"refund" AND "webhook"'),
        ('"double refund"', '"double refund"'),
        ('"double refund', '"double refund"'),
        ('say "double', '"say" AND "double"'),
        ("idempot*", '"idempot" *'),
        ('"double ref"*', '"double ref" *'),
        ("refund OR credit note", '"refund" OR ("credit" AND "note")'),
        ("refund AND (credit OR debit)", '"refund" AND ("credit" OR "debit")'),
        ("refund NOT test NOT draft", '"refund" NOT ("test" OR "draft")'),
        ("refund -test", '"refund" NOT "test"'),
        ('refund -"unit test"', '"refund" NOT "unit test"'),
        ("refund -(test OR draft)", '"refund" NOT ("test" OR "draft")'),
        ("NOT NOT refund", '"refund"'),
        ("foo-bar a.b", '"foo bar" AND "a b"'),
        ("--no-index", '"no index"'),
        ("parse(text)", '"parse text"'),
        ("(parse(text) OR split)", '"parse text" OR "split"'),
        ("refund :) ok", '"refund" AND "ok"'),
        ("refund AND - ok", '"refund" AND "ok"'),
        ("and or not", '"and" AND "or" AND "not"'),
        ('"AND" "OR"', '"and" AND "or"'),
        ('a"b c"d', '"a" AND "b c" AND "d"'),
        ("日本語", '"日本 本語"'),
        ("語", '"語" *'),
        ("日本語*", '"日本 本語"'),
        ('"日本 語学"', '"日本 本 語学"'),
        ("v日本", '"v 日本"'),
        ("日本v2*", '"日本 本 v2" *'),
        ("Straße ÉTÉ", '"straße" AND "ete"'),
    ],
)
def test_a_question_is_read_as_people_mean_it(question: str, written: str) -> None:
    assert parse(question).fts() == written


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("", "there is nothing to look for"),
        ("  ", "there is nothing to look for"),
        ("+++", "'+++' has no word to look for"),
        ("-refund", "only what to leave out is named"),
        ("refund OR -test", "only what to leave out is named"),
        ("refund OR", "a word is missing beside OR at character 8"),
        ("AND refund", "a word is missing beside AND at character 1"),
        ("refund AND OR test", "a word is missing beside AND at character 8"),
        ("refund NOT", "a word is missing beside NOT at character 8"),
        ("(refund", "the parenthesis at character 1 is not closed"),
        ("a (b OR (c)", "the parenthesis at character 3 is not closed"),
        ("a ()", "there is nothing in the parentheses at character 3"),
        ("(" * 60 + "a" + ")" * 60, f"the parentheses nest too deep at character {DEEPEST + 1}"),
        ("a" * 40_000, "is too long for a word"),
    ],
)
def test_what_makes_no_sense_is_an_error_that_names_the_place(question: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(question)
    assert message in caught.value.message


def test_thousands_of_words_are_no_trouble(index: Index) -> None:
    index.put(("needle", ""))
    many = " ".join(f"w{number}" for number in range(3000))
    assert index.find(parse(f"needle OR ({many})").fts()) == [1]
    assert index.find(parse(f"needle -{' -'.join(many.split())}").fts()) == [1]


@examples(300)
@given(
    levels=st.lists(
        st.sampled_from(
            ["(w OR x {})", "x {} y", "z OR (w NOT {} NOT y)", "-z -(y {}) x", "w NOT ({} x)", "({})"]
        ),
        max_size=DEEPEST,
    ),
    rows=st.lists(st.lists(st.sampled_from("vwxyz"), max_size=5).map(" ".join), min_size=3, max_size=3),
)
def test_fts5_takes_what_nests_as_deep_as_is_allowed(
    index: Index, levels: list[str], rows: list[str]
) -> None:
    question = "v"
    for level in levels:
        question = level.format(f"({question})")
    try:
        query = parse(question)
    except UsageError as error:
        if "nest too deep" in error.message:
            return
        raise
    index.put(*((row, "") for row in rows))
    assert index.find(query.fts(("one", "other"))) == [n for n, row in enumerate(rows, 1) if query.match(row)]


def test_the_places_are_those_of_what_was_asked_for() -> None:
    text = "The Refund: a réfund, refunds; not a credit."
    places = parse("refund NOT debit").match(text)
    assert places is not None
    assert [text[start:end] for start, end in places] == ["Refund", "réfund"]
    places = parse('refund* "a credit" OR zebra').match(text)
    assert places is not None
    assert [text[start:end] for start, end in places] == ["Refund", "réfund", "refunds", "a credit"]
    assert parse("refund NOT credit").match(text) is None


def test_only_the_character_asked_for_is_marked_in_a_run() -> None:
    assert parse("本").match("日本語") == [(1, 2)]
    assert parse("本語").match("日本語") == [(1, 3)]
    assert parse("日本語").match("日本語") == [(0, 3)]


def test_an_arm_that_fails_marks_nothing() -> None:
    text = "alpha beta gamma"
    assert parse("alpha OR (beta NOT gamma)").match(text) == [(0, 5)]


def test_the_words_of_one_line_may_be_in_different_texts() -> None:
    query = parse("alpha beta")
    assert query.match("alpha") is None
    assert query.match_all(["alpha", "gamma", "a beta"]) == [[(0, 5)], [], [(2, 6)]]
    assert parse("alpha -beta").match_all(["alpha", "beta"]) is None
    assert parse('"alpha beta"').match_all(["alpha", "beta"]) is None


def test_the_words_for_did_you_mean_are_those_asked_for() -> None:
    assert parse('Refund "Web hook" -tset idem* 日本語 語 refund').words == ("refund", "web", "hook", "idem")
    assert parse("(beta OR alpha) NOT gamma").words == ("beta", "alpha")


def test_columns_are_names_and_nothing_else() -> None:
    with pytest.raises(ValueError, match="no names of columns"):
        parse("a").fts(("one} : x OR {other",))
