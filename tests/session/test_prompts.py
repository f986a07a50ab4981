"""What a person put in, told apart from what the client wrote under the user's role."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.format.entry import Entry
from clew.format.skim import skim, skim_entry
from clew.session.prompts import HUMAN_KINDS, Command, Prompt, is_human, is_tool_result, kind_of, read
from tests.builder import image, text

MADE = Path(__file__).parent.parent / "data" / "made"


def user(content: object, **fields: Any) -> Entry:
    data = {"type": "user", "message": {"role": "user", "content": content}, **fields}
    return Entry(json.dumps(data).encode())


def prompt(content: object, **fields: Any) -> Prompt:
    entry = user(content, **fields)
    told = read(entry)
    # Whatever is told from the whole entry is told from its few facts too, on both roads.
    for facts in (skim_entry(entry), skim(entry.raw)):
        assert facts is not None
        assert kind_of(facts) == told.kind
        assert is_human(facts) == told.is_human
    return told


@pytest.mark.parametrize("content", ["Light the lamp.", [text("Light the lamp.")]])
def test_words_are_a_prompt_as_a_string_and_as_a_list(content: object) -> None:
    told = prompt(content)
    assert (told.kind, told.words, told.is_human) == ("text", "Light the lamp.", True)


def test_several_texts_are_one_prompt() -> None:
    assert prompt([text("First this."), text("Then that.")]).words == "First this.\nThen that."


@pytest.mark.parametrize("name", ["ide_selection", "ide_opened_file"])
@pytest.mark.parametrize("in_one", [True, False])
def test_what_the_editor_says_is_kept_apart_from_the_words(name: str, in_one: bool) -> None:
    tag = f"<{name}>The lamp, line 3.</{name}>"
    told = prompt(f"{tag}\nWhat is this?" if in_one else [text(tag), text("What is this?")])
    assert (told.kind, told.words, told.tag(name)) == (name, "What is this?", "The lamp, line 3.")
    assert told.is_human


def test_the_made_samples_of_an_editor_are_told() -> None:
    for name in ("ide_selection", "ide_opened_file"):
        lines = (MADE / f"made-{name.replace('_', '-')}.jsonl").read_bytes().splitlines()
        kinds = [read(entry).kind for line in lines if (entry := Entry(line)).type == "user"]
        assert kinds[0] == name


def test_a_tag_of_the_editor_without_words_is_no_prompt() -> None:
    assert prompt("<ide_opened_file>The chart.</ide_opened_file>").is_human is False


def test_a_picture_makes_it_a_picture_whatever_else_is_there() -> None:
    told = prompt([text("<ide_selection>x</ide_selection>"), text("What is this?"), image(), image()])
    assert (told.kind, told.words, told.images, told.is_human) == ("image", "What is this?", 2, True)
    assert prompt([{"type": "document"}]).kind == "document"


def test_a_block_nobody_knows_is_something_the_person_handed_over() -> None:
    assert (prompt([{"type": "hologram"}]).kind, prompt([{"type": "hologram"}]).is_human) == ("text", True)


def test_a_placeholder_tells_of_pasted_text() -> None:
    told = prompt("Mend this: [Pasted text #1 +14 lines]")
    assert (told.kind, told.is_human) == ("pasted_text", True)


def test_a_tool_result_is_no_prompt_even_with_words_beside_it() -> None:
    content = [{"type": "tool_result", "tool_use_id": "t1", "content": "done"}, text("Go on.")]
    told = prompt(content)
    assert (told.kind, told.words, told.is_human) == ("tool_result", "", False)
    assert is_tool_result(skim_entry(user(content)))
    assert not is_tool_result(skim_entry(user("words")))


def test_a_command_that_is_expanded_is_a_prompt_with_its_name_and_arguments() -> None:
    told = prompt(
        "<command-message>demo</command-message>\n<command-name>/demo</command-name>\n"
        "<command-args>two cups</command-args>"
    )
    assert (told.kind, told.words, told.is_human) == ("slash_command", "/demo two cups", True)
    assert told.command == Command("/demo", "two cups")


def test_a_command_the_client_carries_out_itself_is_the_persons_but_starts_no_turn() -> None:
    told = prompt(
        "<command-name>/cost</command-name>\n            <command-message>cost</command-message>\n"
        "            <command-args></command-args>"
    )
    assert (told.kind, told.words, told.is_human) == ("local_command", "/cost", False)
    assert told.command == Command("/cost", "")


def test_a_skill_that_the_model_called_is_not_the_persons() -> None:
    told = prompt(
        '<command-message>The "tea" skill is running</command-message>\n<command-name>tea</command-name>'
    )
    assert (told.kind, told.words, told.command) == ("skill", "", Command("tea", ""))


def test_a_command_without_a_name_goes_by_its_message() -> None:
    assert prompt("<command-message>/tea</command-message>").words == "/tea"


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("<local-command-stdout>Total: $0</local-command-stdout>", "command_output"),
        ("<local-command-stderr>no</local-command-stderr>", "command_output"),
        ("This slash command can only be invoked by Claude, not directly by users.", "command_output"),
        ("<local-command-caveat>Caveat</local-command-caveat>", "caveat"),
        (
            [text("Caveat: The messages below were generated by the user while running local commands.")],
            "caveat",
        ),
        ("<bash-input>ls</bash-input>", "bash_input"),
        ("<bash-stdout>a\n</bash-stdout><bash-stderr></bash-stderr>", "bash_output"),
        ("<user-memory-input>tea at four</user-memory-input>", "memory"),
        ("[Request interrupted by user]", "interrupt"),
        ([text("[Request interrupted by user for tool use]")], "interrupt"),
        (
            "<task-notification>\n<task-id>a1</task-id>\n</task-notification>\nSee the file.",
            "task_notification",
        ),
        ('<teammate-message teammate_id="lead">Go.</teammate-message>', "agent_message"),
        ("<system-reminder>\nMind the step.\n</system-reminder>", "reminder"),
        ("", "empty"),
        ([], "empty"),
        ([text(" \n")], "empty"),
        (None, "empty"),
        ({"type": "text", "text": "a bare block"}, "empty"),
        (7, "empty"),
    ],
)
def test_what_the_client_writes_under_the_users_role_starts_no_turn(content: object, kind: str) -> None:
    entry = user(content)
    told = read(entry)
    assert (told.kind, told.is_human) == (kind, False)
    assert kind_of(skim_entry(entry)) == kind


def test_what_was_typed_in_bash_mode_and_for_memory_are_the_persons_words() -> None:
    assert prompt("<bash-input>ls -l</bash-input>").words == "ls -l"
    assert prompt("<user-memory-input>tea at four</user-memory-input>").words == "tea at four"


def test_the_output_of_a_command_is_told() -> None:
    assert prompt("<bash-stdout>a</bash-stdout><bash-stderr>b</bash-stderr>").output == "ab"
    assert prompt("<local-command-stdout>bye</local-command-stdout>").output == "bye"
    assert prompt("hello").output is None
    assert prompt("hello").tag("bash-stdout") is None


def test_the_clients_own_entries_start_no_turn_whatever_they_hold() -> None:
    assert prompt("Light the lamp.", isMeta=True).kind == "meta"
    assert prompt([image()], isMeta=True).kind == "meta"
    assert prompt("So far: tea.", isCompactSummary=True).kind == "compact_summary"


def test_permission_mode_does_not_make_news_of_a_task_a_prompt() -> None:
    told = prompt("<task-notification>done</task-notification>", permissionMode="default")
    assert told.is_human is False


def test_words_before_a_tag_stay_the_persons() -> None:
    told = prompt([text("Look:"), text("<task-notification>pasted</task-notification>")])
    assert (told.kind, told.words) == ("text", "Look:")
    assert prompt("Why <command-name>x</command-name>?").words == "Why <command-name>x</command-name>?"


def test_words_after_an_interruption_are_a_prompt() -> None:
    told = prompt([text("[Request interrupted by user]"), text("Stop, the other lamp.")])
    assert (told.kind, told.words, told.tag("interrupt")) == (
        "text",
        "Stop, the other lamp.",
        "[Request interrupted by user]",
    )


def test_a_reminder_before_the_words_is_taken_off() -> None:
    told = prompt("<system-reminder>Mind the step.</system-reminder>\n\nLight the lamp.")
    assert (told.kind, told.words) == ("text", "Light the lamp.")


def test_a_tag_that_never_closes_takes_the_rest() -> None:
    told = prompt("<local-command-stdout>half of it")
    assert (told.kind, told.output) == ("command_output", "half of it")


def test_an_unknown_tag_is_words() -> None:
    assert prompt("<svg><path/></svg> what is it?").words == "<svg><path/></svg> what is it?"


def test_a_local_command_written_as_a_system_entry_is_read_too() -> None:
    said = {"type": "system", "subtype": "local_command", "content": "<command-name>/usage</command-name>"}
    told = read(Entry(json.dumps(said).encode()))
    assert (told.kind, told.words) == ("local_command", "/usage")


def test_a_queued_prompt_is_read_from_its_attachment() -> None:
    queued = {"type": "attachment", "attachment": {"type": "queued_command", "prompt": "And the other lamp."}}
    assert read(Entry(json.dumps(queued).encode())).words == "And the other lamp."
    assert read(Entry(b'{"type":"attachment","attachment":7}')).kind == "empty"


_WORDS = st.sampled_from(
    (
        "hi",
        "",
        " ",
        "[Request interrupted by user]",
        "<bash-input>ls</bash-input>",
        "<ide_selection>x</ide_selection>",
        "<command-name>/a",
        "<command-message>b</command-message>",
        "\ud800",
        "<system-reminder>r</system-reminder> w",
    )
)
_BLOCKS = st.one_of(
    _WORDS,
    st.builds(text, _WORDS),
    st.sampled_from(
        [{"type": "tool_result"}, {"type": 3}, {}, None, 7, {"type": "text", "text": 1}, {"type": "image"}]
    ),
)


@given(
    st.one_of(_WORDS, st.none(), st.lists(_BLOCKS, max_size=4), st.booleans()),
    st.sampled_from([True, False, None, "yes"]),
    st.sampled_from([True, False, None]),
)
def test_the_few_facts_and_the_whole_entry_tell_the_same_kind(
    content: object, is_meta: object, is_summary: object
) -> None:
    entry = user(content, isMeta=is_meta, isCompactSummary=is_summary)
    told = read(entry)
    facts = skim_entry(entry)
    assert kind_of(facts) == told.kind
    assert is_human(facts) == told.is_human == (told.kind in HUMAN_KINDS)
    quick = skim(entry.raw)
    assert quick is None or kind_of(quick) == told.kind
