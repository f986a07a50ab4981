"""What a session is called."""

from __future__ import annotations

from pathlib import Path

from clew.session.session import Session
from clew.session.titles import LONGEST, Title, one_line, title
from tests.builder import Builder

DATA = Path(__file__).parent.parent / "data"


def talk() -> Builder:
    return Builder().prompt("Light the lamp.", uuid="p").answer("Lit.", uuid="leaf")


def test_the_persons_title_comes_before_the_models_and_both_before_the_rest() -> None:
    builder = talk()
    assert title(builder.session()) == Title("Light the lamp.", "prompt")
    builder.line({"type": "summary", "summary": "A lamp is lit", "leafUuid": "leaf"})
    assert title(builder.session()) == Title("A lamp is lit", "summary")
    builder.line({"type": "agent-name", "agentName": "keeper"})
    assert title(builder.session()) == Title("keeper", "agent")
    builder.line({"type": "ai-title", "aiTitle": "Lighting a lamp"})
    assert title(builder.session()) == Title("Lighting a lamp", "ai")
    builder.line({"type": "custom-title", "customTitle": "My lamp"})
    assert title(builder.session()) == Title("My lamp", "custom")


def test_of_titles_written_again_the_last_counts() -> None:
    builder = talk()
    for words in ("one", "two", "one", "three"):
        builder.line({"type": "custom-title", "customTitle": words})
    assert title(builder.session()) == Title("three", "custom")


def test_an_empty_title_takes_the_title_back() -> None:
    builder = talk().line({"type": "custom-title", "customTitle": "one"})
    assert title(builder.line({"type": "custom-title", "customTitle": ""}).session()) == Title(
        "Light the lamp.", "prompt"
    )
    assert title(builder.line({"type": "custom-title"}).session()) == Title("Light the lamp.", "prompt")


def test_a_summary_of_another_conversation_is_no_title() -> None:
    builder = talk().line({"type": "summary", "summary": "Elsewhere", "leafUuid": "gone"})
    assert title(builder.session()) == Title("Light the lamp.", "prompt")


def test_a_summary_in_another_file_names_the_session_that_holds_its_leaf() -> None:
    assert title(talk().session(), {"leaf": "From afar", "gone": "Not ours"}) == Title("From afar", "summary")


def test_of_several_summaries_the_one_of_the_latest_line_counts() -> None:
    assert title(talk().session(), {"leaf": "later", "p": "earlier"}) == Title("later", "summary")


def test_the_made_summary_file_names_the_conversation_of_another_file() -> None:
    folder = DATA / "made" / "made-summaries"
    sessions = [Session.read(path.read_bytes()) for path in sorted(folder.glob("*.jsonl"))]
    summaries: dict[str, str] = {}
    for session in sessions:
        for entry in session.entries():
            if entry.type == "summary":
                summaries[entry.data["leafUuid"]] = entry.data["summary"]
    found = [title(session, summaries) for session in sessions]
    assert found == [Title("Steps and windows counted", "summary"), None, Title("Paint the door.", "prompt")]


def test_a_title_is_on_one_line_and_not_endless() -> None:
    assert title(Builder().prompt("Light\n\n  the\tlamp.").session()) == Title("Light the lamp.", "prompt")
    assert len(one_line("word " * 100_000)) == LONGEST
    assert one_line(None) == ""


def test_a_sub_agent_is_called_by_what_it_was_told() -> None:
    assert title(Builder().user("Count.", isSidechain=True).session()) == Title("Count.", "prompt")


def test_a_session_that_says_nothing_has_no_title() -> None:
    assert title(Session.read(b"")) is None
    assert title(Builder().meta("caveat").user("<command-name>/cost</command-name>").session()) is None


def test_titles_that_are_no_strings_are_no_titles() -> None:
    builder = (
        talk()
        .line({"type": "ai-title", "aiTitle": 7})
        .line({"type": "summary", "summary": [], "leafUuid": "leaf"})
    )
    assert title(builder.session()) == Title("Light the lamp.", "prompt")
