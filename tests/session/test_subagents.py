"""Sub-agents and the calls that started them."""

from __future__ import annotations

from clew.session.subagents import Agent, Source, agents
from tests.builder import Builder, call


def task(call_id: str, prompt: str, **more: str) -> dict[str, object]:
    return dict(call(call_id, "Task", {"prompt": prompt, "description": f"About {prompt}", **more}))


def own_file(agent_id: str, prompt: str | None, **meta: object) -> Source:
    builder = Builder()
    if prompt is not None:
        builder.user(prompt, isSidechain=True, agentId=agent_id)
    builder.answer("done", isSidechain=True, agentId=agent_id)
    return Source(agent_id, builder.session(), f"agent-{agent_id}.jsonl", meta)


def shape(found: tuple[Agent, ...]) -> list[object]:
    return [(a.agent_id, a.started_by, a.evidence, shape(a.children)) for a in found]


def test_a_result_names_the_agent() -> None:
    builder = Builder().answer(task("t1", "count", subagent_type="Explore"))
    session = builder.result("t1", toolUseResult={"agentId": "a1"}).session()
    (agent,) = agents(session, [own_file("a1", None)])
    assert (agent.agent_id, agent.started_by, agent.evidence) == ("a1", "t1", "result")
    assert (agent.type, agent.description) == ("Explore", "About count")
    assert agent.source is not None
    assert (agent.source.key, agent.rows) == ("agent-a1.jsonl", ())


def test_a_meta_file_names_the_call() -> None:
    session = Builder().answer(task("t1", "same")).answer(task("t2", "same")).session()
    source = own_file("a1", "same", toolUseId="t2", agentType="Plan", description="From the side file")
    (agent,) = agents(session, [source])
    assert (agent.started_by, agent.evidence) == ("t2", "meta")
    assert (agent.type, agent.description) == ("Plan", "From the side file")


def test_news_of_its_progress_names_the_call_of_an_agent_that_never_came_back() -> None:
    builder = Builder().answer(task("t1", "same")).answer(task("t2", "same"))
    news = {"type": "agent_progress", "agentId": "a1"}
    session = (
        builder.entry("progress", data=news, parentToolUseID="t2").entry("progress", data=news).session()
    )
    assert shape(agents(session, [own_file("a1", "same")])) == [("a1", "t2", "progress", [])]


def test_failing_all_that_what_it_was_told_names_the_call() -> None:
    session = Builder().answer(task("t1", "count"), task("t2", "weigh")).session()
    found = agents(session, [own_file("a1", "weigh"), own_file("a2", "  count\n")])
    assert shape(found) == [("a1", "t2", "prompt", []), ("a2", "t1", "prompt", [])]


def test_two_agents_told_the_same_go_by_the_order_they_began() -> None:
    session = Builder().answer(task("t1", "same"), task("t2", "same")).session()
    late = Builder().wait(60).user("same", isSidechain=True).session()
    early = Builder().user("same", isSidechain=True).session()
    found = agents(session, [Source("late", late), Source("early", early)])
    assert [(a.agent_id, a.started_by) for a in found] == [("late", "t2"), ("early", "t1")]


def test_a_message_from_a_team_mate_is_what_an_agent_was_told() -> None:
    session = Builder().answer(task("t1", "count")).session()
    told = '<teammate-message teammate_id="lead">count</teammate-message>'
    assert shape(agents(session, [own_file("a1", told)])) == [("a1", "t1", "prompt", [])]


def test_an_agent_that_nothing_started_is_kept() -> None:
    session = Builder().answer(task("t1", "count")).session()
    found = agents(session, [own_file("warm", "Warmup"), own_file("a1", "count")])
    assert shape(found) == [("a1", "t1", "prompt", []), ("warm", None, None, [])]


def test_agents_of_agents_hang_under_them_to_any_depth() -> None:
    session = Builder().answer(task("t0", "go 0")).result("t0", toolUseResult={"agentId": "a0"}).session()
    sources: list[Source] = []
    for n in range(2000):
        builder = (
            Builder()
            .user(f"go {n}", isSidechain=True)
            .answer(task(f"t{n + 1}", f"go {n + 1}"), isSidechain=True)
        )
        sources.append(Source(f"a{n}", builder.session()))
    found = agents(session, reversed(sources))
    depth = 0
    while found:
        (agent,) = found
        assert (agent.agent_id, agent.started_by) == (f"a{depth}", f"t{depth}")
        found, depth = agent.children, depth + 1
    assert depth == 2000


def test_two_agents_said_to_have_started_each_other_are_both_kept() -> None:
    def other(call_id: str, agent_id: str) -> Builder:
        builder = Builder().user("x", isSidechain=True).answer(task(call_id, "y"), isSidechain=True)
        return builder.result(call_id, isSidechain=True, toolUseResult={"agentId": agent_id})

    sources = [Source("a1", other("t1", "a2").session()), Source("a2", other("t2", "a1").session())]
    (top,) = agents(Builder().prompt("a").session(), sources)
    assert (top.agent_id, [child.agent_id for child in top.children]) == ("a1", ["a2"])


def test_an_agent_did_not_start_itself() -> None:
    builder = Builder().user("x", isSidechain=True).answer(task("t1", "x"), isSidechain=True)
    session = builder.result("t1", isSidechain=True, toolUseResult={"agentId": "a1"}).session()
    assert shape(agents(Builder().session(), [Source("a1", session)])) == [("a1", None, None, [])]


def test_one_call_starts_one_agent() -> None:
    session = Builder().answer(task("t1", "count")).session()
    found = agents(session, [own_file("a1", "count"), own_file("a2", "count")])
    assert [a.started_by for a in found] == ["t1", None]


def test_lines_of_agents_within_the_file_are_gathered_by_their_chains() -> None:
    builder = Builder().prompt("a").answer(task("t1", "count"), task("t2", "weigh"), stop="tool_use")
    builder.user("count", isSidechain=True, parentUuid=None, uuid="s1").answer("x", isSidechain=True)
    builder.user("weigh", isSidechain=True, parentUuid=None, uuid="s2").answer("y", isSidechain=True)
    session = builder.rewind("s1").answer("z", isSidechain=True).session()
    found = agents(session)
    assert [(a.agent_id, a.started_by, a.rows) for a in found] == [
        ("s1", "t1", (3, 4, 7)),
        ("s2", "t2", (5, 6)),
    ]


def test_lines_of_agents_within_the_file_are_gathered_by_their_ids_where_they_have_some() -> None:
    builder = Builder().prompt("a")
    for agent in ("a1", "a2", "a1"):
        builder.user("x", isSidechain=True, agentId=agent, parentUuid=None)
    loose = builder.line({"type": "assistant", "isSidechain": True}).session()
    assert [(a.agent_id, a.rows) for a in agents(loose)] == [("a1", (1, 3)), ("a2", (2,)), ("line-5", (4,))]


def test_an_agent_within_the_file_may_start_one_of_its_own() -> None:
    builder = Builder().prompt("a").answer(task("t1", "outer"))
    builder.user("outer", isSidechain=True, parentUuid=None, uuid="s1").answer(
        task("t2", "inner"), isSidechain=True
    )
    session = builder.user("inner", isSidechain=True, parentUuid=None, uuid="s2").session()
    assert shape(agents(session)) == [("s1", "t1", "prompt", [("s2", "t2", "prompt", [])])]


def test_any_call_whose_result_names_an_agent_started_it() -> None:
    builder = Builder().answer(call("t1", "Skill")).result("t1", toolUseResult={"agentId": "a1"})
    assert shape(agents(builder.session(), [own_file("a1", None)])) == [("a1", "t1", "result", [])]


def test_a_sub_agents_own_file_holds_no_agents() -> None:
    source = own_file("a1", "count")
    assert agents(source.session) == ()
