"""Keys change a draft as they do in a shell; long pastes are folded; older drafts come back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.faces.cli.chat.draft import Draft, draft_of
from clew.faces.cli.chat.editor import Editor
from clew.faces.cli.chat.keys import Key


def typed(*keys: str, history: tuple[str, ...] = ()) -> Editor:
    """Press keys; what is no name of one is typed."""
    editor = Editor(history)
    for key in keys:
        is_name = key.startswith(("ctrl-", "alt-")) or key in _NAMES
        editor.press(Key(key) if is_name else Key("text", key))
    return editor


_NAMES = {"left", "right", "up", "down", "home", "end", "backspace", "delete"}


def shown(editor: Editor) -> str:
    """The draft, with a bar where the cursor is."""
    draft = editor.draft
    return f"{draft.text[: draft.at]}|{draft.text[draft.at :]}"


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (("hello", "left", "left", "X"), "helX|lo"),
        (("hello", "ctrl-a", "X", "ctrl-e", "Y"), "XhelloY|"),
        (("one two three", "ctrl-w"), "one two |"),
        (("one two three", "ctrl-left", "ctrl-left", "ctrl-k"), "one |"),
        (("one two", "ctrl-u"), "|"),
        (("one two", "ctrl-w", "ctrl-a", "ctrl-y"), "two|one "),
        (("one two", "home", "alt-f", "alt-d"), "one|"),
        (("one", "alt-enter", "two", "up", "X"), "oneX|\ntwo"),
        (("one", "ctrl-j", "two", "home", "backspace"), "one|two"),
        (("a", "alt-enter", "bcd", "up", "down"), "a\nb|cd"),
        (("abc", "home", "delete"), "|bc"),
        (("a漢👩‍💻", "left", "left", "X"), "aX|漢👩‍💻"),
        (("a👩‍💻", "backspace"), "a|"),
        (("e\u0301", "backspace"), "|"),
        (("one", "alt-enter", "two", "ctrl-home", "X"), "X|one\ntwo"),
        (("x.y foo", "alt-backspace"), "x.y |"),
        (("one", "alt-enter", "ctrl-u"), "one|"),
        (("one", "alt-enter", "two", "up", "end", "ctrl-k"), "one|two"),
    ],
)
def test_keys_do_what_they_do_in_a_shell(keys: tuple[str, ...], expected: str) -> None:
    assert shown(typed(*keys)) == expected


def test_older_drafts_come_back_and_the_own_one_too() -> None:
    editor = typed("mine", "up", history=("first", "second"))
    assert shown(editor) == "|mine"  # first to the beginning, then to what was before
    editor.press(Key("up"))
    assert shown(editor) == "second|"
    editor.press(Key("up"))
    editor.press(Key("up"))
    assert shown(editor) == "first|"
    for _ in range(2):
        editor.press(Key("down"))
    assert editor.draft.text == "mine"


def test_what_was_sent_is_the_newest_of_the_history_and_not_twice() -> None:
    editor = typed("one")
    assert editor.take() == "one"
    editor.press(Key("text", "one"))
    editor.take()
    editor.press(Key("up"))
    editor.press(Key("up"))
    assert shown(editor) == "one|"
    editor.press(Key("text", "!"))
    assert editor.take(keeps=False) == "one!"
    editor.press(Key("up"))
    assert editor.draft.text == "one"


def test_a_long_paste_is_one_sign_and_is_sent_whole() -> None:
    text = "\n".join(f"line {number}" for number in range(200))
    draft = Draft().insert("see ").paste(text).insert(" there")
    assert len(draft.text) == len("see  there") + 1
    assert draft.label(draft.text[4]) == "[pasted 200 lines, 1,689 characters]"
    assert draft.whole == f"see {text} there"
    at_end_of_paste = draft.move(5)
    assert at_end_of_paste.cut(at_end_of_paste.before, 5)[0].whole == "see  there"


def test_a_short_paste_is_text() -> None:
    assert Draft().paste("a\nb").text == "a\nb"


def test_a_cut_paste_can_be_put_back_later() -> None:
    text = "long " * 400
    editor = Editor()
    editor.press(Key("paste", text))
    editor.press(Key("ctrl-u"))
    editor.take()
    editor.press(Key("ctrl-y"))
    assert editor.draft.whole == text


def test_signs_that_stand_for_pastes_cannot_be_typed() -> None:
    assert draft_of(chr(0x10FF00)).whole == "\ufffd"


_MOVES = ("left", "right", "up", "down", "home", "end", "ctrl-left", "ctrl-right", "ctrl-home", "ctrl-end")
_CHANGES = ("backspace", "delete", "alt-enter", "ctrl-k", "ctrl-u", "ctrl-w", "ctrl-y", "alt-d")
_KEYS = st.sampled_from((*_MOVES, *_CHANGES))


@given(st.lists(_KEYS.map(Key) | st.text(max_size=5).map(lambda text: Key("text", text)), max_size=30))
def test_the_cursor_is_always_inside_the_draft(keys: list[Key]) -> None:
    editor = Editor(("older\nlines", "漢字"))
    for key in keys:
        assert editor.press(key)
        assert 0 <= editor.draft.at <= len(editor.draft.text)


def test_a_key_nobody_knows_does_nothing() -> None:
    editor = typed("a")
    assert not editor.press(Key("page-up"))
    assert shown(editor) == "a|"
