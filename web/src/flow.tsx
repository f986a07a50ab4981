// What a turn is a row of: prompts, answers, thinking, calls, notes, rules and notices.

import { Component, type ComponentChildren } from "preact";
import { MarkdownView, NoticeView, Parts } from "./drawing";
import type { Folds, Place } from "./folds";
import { inside } from "./folds";
import { Icon, STATES } from "./icons";
import type { Agent, Answer, Call, Flow, Note, Prompt, Rule, Thinking } from "./parts";
import { clock, firstSentence, iso, plural, span } from "./text";
import { Isolated, visible, visibleText } from "./visible";
import { WorkLine } from "./workline";

/** Who draws the turns of a sub-agent into a place, and stops. */
export interface AgentHost extends Folds {
  /** Whether answers come from more than one model, so that each has to name its own. */
  readonly namesModels: boolean;
  mountAgent(agent: Agent, into: HTMLElement): () => void;
  /** Whether a call without a result may still get one: it stands at the end of a session that is being written. */
  mayRun?(id: string): boolean;
  /** What stands at the end of a sub-agent's line, as a link to a page of its own. */
  readonly agentEnd?: ((agent: Agent) => ComponentChildren) | undefined;
}

interface ItemOptions<T> {
  flow: T;
  host: AgentHost;
  /** The key of the item, which is its address in the page too. */
  id: string;
}

interface ShellOptions {
  id: string;
  kind: string;
  label?: ComponentChildren;
  time?: number | null | undefined;
  children: ComponentChildren;
}

function Item({ id, kind, label, time, children }: ShellOptions) {
  return (
    <div class={`item ${kind}`} id={id} data-key={id} tabIndex={-1}>
      {label && (
        <div class="label">
          <span class="who">{label}</span>
          <a class="here" href={`#${id}`}>{typeof time === "number" ? <time dateTime={iso(time)}>{clock(time)}</time> : `#${id}`}</a>
        </div>
      )}
      {children}
    </div>
  );
}

export function FlowView({ flow, host, id }: ItemOptions<Flow>) {
  switch (flow.kind) {
    case "prompt":
      return <PromptView flow={flow} host={host} id={id} />;
    case "answer":
      return <AnswerView flow={flow} host={host} id={id} />;
    case "thinking":
      return <ThinkingView flow={flow} host={host} id={id} />;
    case "call":
      return <CallView flow={flow} host={host} id={id} />;
    case "note":
      return <NoteView flow={flow} host={host} id={id} />;
    case "rule":
      return <RuleView flow={flow} host={host} id={id} />;
    case "notice":
      return <Item id={id} kind="isnotice"><NoticeView notice={flow} place={{ folds: host, key: id }} /></Item>;
    default:
      return (
        <Item id={id} kind="isnotice">
          <NoticeView notice={{ kind: "notice", text: "This entry is of a kind this page does not know.", detail: JSON.stringify(flow, null, 1) }} place={{ folds: host, key: id }} />
        </Item>
      );
  }
}

const INPUTS: Record<string, string> = { command: "Command", bash: "Shell", "queued": "Sent along" };

function PromptView({ flow, host, id }: ItemOptions<Prompt>) {
  const word = flow.is_queued ? "Sent along" : (INPUTS[flow.input_kind ?? ""] ?? "Prompt");
  return <Item id={id} kind="prompt" label={word} time={flow.time}><Parts parts={flow.parts} place={{ folds: host, key: id }} /></Item>;
}

function AnswerView({ flow, host, id }: ItemOptions<Answer>) {
  const kind = `answer${flow.is_last ? " is-last" : ""}${flow.is_error ? " is-error" : ""}`;
  const label = <>{flow.is_error ? "API error" : "Answer"}{flow.model && host.namesModels && <Isolated class="model" text={flow.model} />}</>;
  return <Item id={id} kind={kind} label={label} time={flow.time}><Parts parts={flow.parts} place={{ folds: host, key: id }} cut="none" /></Item>;
}

function ThinkingView({ flow, host, id }: ItemOptions<Thinking>) {
  if (flow.is_encrypted && !flow.text) {
    return <Item id={id} kind="thinking is-empty"><p class="thinkline"><span class="who">Thinking</span> <span>encrypted, without words</span></p></Item>;
  }
  const isOpen = host.isOpen(id, host.thinking || host.level === 4);
  const first = firstSentence(flow.text);
  const isWhole = first.length >= flow.text.trim().length;
  return (
    <Item id={id} kind="thinking">
      <button type="button" class="thinkline" aria-expanded={isOpen} onClick={(event) => host.toggle(id, host.thinking || host.level === 4, event.currentTarget)}>
        <Icon name="chevron" /><span class="who">Thinking</span>
        {!isOpen && <span class="first">{visible(first)}{isWhole ? "" : " …"}</span>}
      </button>
      {isOpen && <div class="thought"><MarkdownView text={flow.text} place={{ folds: host, key: id }} /></div>}
    </Item>
  );
}

function CallView({ flow: told, host, id }: ItemOptions<Call>) {
  const isRunning = (told.state === "missing" || told.state === "running") && (host.mayRun?.(id) ?? false);
  const flow: Call = isRunning ? { ...told, state: "running", outcome: "running" } : told;
  const place: Place = { folds: host, key: id };
  const byDefault = flow.state === "failed" || (host.level === 4 && !host.isPrint);
  const isOpen = host.isOpen(id, byDefault);
  const isForPaper = host.isPrint && !isOpen;
  const agents = flow.agents ?? [];
  const line = (
    <>
      <Icon name={flow.state === "running" ? "running" : flow.state} label={STATES[flow.state]} />
      <span class="tool"><Isolated text={flow.tool} /></span>
      <span class="argument"><bdi>{visible(flow.argument)}</bdi></span>
      <span class="outcome">
        {flow.outcome && <span class="how"><Outcome text={flow.outcome} /></span>}
        {typeof flow.duration_ms === "number" && <span class="took">{span(flow.duration_ms)}</span>}
        {isRunning && typeof flow.time === "number" && <Elapsed since={flow.time} />}
      </span>
    </>
  );
  const given = isForPaper ? (flow.given ?? []).filter((part) => part.kind === "diff") : (flow.given ?? []);
  const result = isForPaper ? (flow.result ?? []).filter((part) => part.kind === "diff") : (flow.result ?? []);
  const isBare = given.length + result.length + agents.length === 0;
  return (
    <Item id={id} kind={`call is-${flow.state}${isOpen ? " is-open" : ""}`}>
      {host.isPrint ? <div class="callline">{line}</div> : (
        <button type="button" class="callline" aria-expanded={isOpen} title={isOpen ? undefined : visibleText(flow.argument)} onClick={(event) => host.toggle(id, byDefault, event.currentTarget)}>{line}</button>
      )}
      {(given.length + result.length > 0 || (isBare && !isForPaper)) && (isOpen || isForPaper) && (
        <div class="callbody">
          {given.length > 0 && <div class="given"><Parts parts={given} place={inside(place, "given")} /></div>}
          {result.length > 0 && <div class="result"><Parts parts={result} place={inside(place, "result")} cut={flow.state === "failed" ? "tail" : "head"} /></div>}
          {isBare && <p class="nothing">{flow.state === "missing" ? "The session has no result of this call." : "Nothing more was given or came back."}</p>}
        </div>
      )}
      {agents.map((agent) => <AgentView agent={agent} host={host} item={id} key={agent.agent_id} />)}
    </Item>
  );
}

/** For how long something has been running, counted on by the second. */
class Elapsed extends Component<{ since: number }> {
  private timer = 0;

  override componentDidMount(): void {
    this.timer = setInterval(() => this.forceUpdate(), 1000);
  }

  override componentWillUnmount(): void {
    clearInterval(this.timer);
  }

  render({ since }: { since: number }) {
    return <span class="took elapsed">{span(Math.floor((Date.now() - since) / 1000) * 1000)}</span>;
  }
}

/** `+5 −3` in the colours of change; any other words as they are. */
function Outcome({ text }: { text: string }) {
  const found = /^\+([\d,]+) [−-]([\d,]+)$/.exec(text);
  return found ? <><span class="plus">+{found[1]}</span> <span class="minus">−{found[2]}</span></> : <>{visible(text)}</>;
}

/** The key of a sub-agent's fold in the item that tells of it. */
export function agentKey(item: string, agentId: string): string {
  return `${item}/agent:${agentId}`;
}

export function AgentView({ agent, host, item }: { agent: Agent; host: AgentHost; item: string }) {
  const key = agentKey(item, agent.agent_id);
  const isOpen = !host.isPrint && host.isOpen(key, false);
  return (
    <div class={isOpen ? "agent is-open" : "agent"}>
      <button type="button" class="agentline" aria-expanded={isOpen} onClick={(event) => host.toggle(key, false, event.currentTarget)}>
        <Icon name="chevron" />
        <span class="who">Sub-agent</span>
        <span class="agentname">
          {agent.type && <Isolated class="agenttype" text={agent.type} />}
          {agent.description && <Isolated text={agent.description} />}
          {!agent.type && !agent.description && <Isolated text={agent.agent_id} />}
        </span>
        {agent.turns ? <span class="fact">{plural(agent.turns, "turn")}</span> : null}
      </button>
      <WorkLine work={agent.work ?? {}} class="workline small" />
      {host.agentEnd?.(agent)}
      {isOpen && <AgentTurns agent={agent} host={host} />}
    </div>
  );
}

/** The place of a sub-agent's turns; a list of its own fills it, drawn as it nears the screen. */
class AgentTurns extends Component<{ agent: Agent; host: AgentHost }> {
  private stop: (() => void) | null = null;
  private place: HTMLElement | null = null;

  override componentDidMount(): void {
    if (this.place) this.stop = this.props.host.mountAgent(this.props.agent, this.place);
  }

  override componentWillUnmount(): void {
    this.stop?.();
  }

  override shouldComponentUpdate(): boolean {
    return false;
  }

  render() {
    return <div class="agentturns" ref={(element) => { this.place = element; }} />;
  }
}

function NoteView({ flow, host, id }: ItemOptions<Note>) {
  const parts = flow.parts ?? [];
  const isOpen = host.isOpen(id, host.level === 4 && !flow.is_meta);
  const agents = (flow.agents ?? []).map((agent) => <AgentView agent={agent} host={host} item={id} key={agent.agent_id} />);
  if (parts.length === 0) return <Item id={id} kind="aside"><p class="noteline">{visible(flow.text)}</p>{agents}</Item>;
  return (
    <Item id={id} kind="aside">
      <button type="button" class="noteline" aria-expanded={isOpen} onClick={(event) => host.toggle(id, host.level === 4 && !flow.is_meta, event.currentTarget)}>
        <Icon name="chevron" /><span>{visible(flow.text)}</span>
      </button>
      {isOpen && <div class="notebody"><Parts parts={parts} place={{ folds: host, key: id }} /></div>}
      {agents}
    </Item>
  );
}

function RuleView({ flow, host, id }: ItemOptions<Rule>) {
  const parts = flow.parts ?? [];
  const isOpen = host.isOpen(id, host.level === 4);
  return (
    <Item id={id} kind={`rule is-${flow.reason}`}>
      <div class="ruleline">
        {parts.length === 0 ? <span>{visible(flow.text)}</span> : (
          <button type="button" aria-expanded={isOpen} onClick={(event) => host.toggle(id, host.level === 4, event.currentTarget)}>
            <Icon name="chevron" /><span>{visible(flow.text)}</span>
          </button>
        )}
      </div>
      {isOpen && parts.length > 0 && <div class="rulebody"><Parts parts={parts} place={{ folds: host, key: id }} /></div>}
    </Item>
  );
}
