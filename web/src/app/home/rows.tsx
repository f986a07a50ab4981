// One session of the list, and one sub-agent under it: links and nothing inside them that could be pressed.

import { Icon } from "../../icons";
import { count, iso, moment, money, plural, tokens } from "../../text";
import { Isolated, visibleText } from "../../visible";
import { at } from "../address";
import type { TreeAgent } from "../api";
import { lastName } from "../names";
import { Link } from "../pieces";
import { age, when } from "../times";
import type { AppHost } from "../view";
import type { Row } from "./asked";

export const ROW = 56;
export const AGENT = 36;

export type Item =
  | { kind: "session"; key: string; row: Row }
  | { kind: "agent"; key: string; row: Row; agent: TreeAgent; depth: number }
  | { kind: "waiting"; key: string };

export function heightOf(item: Item): number {
  return item.kind === "session" ? ROW : AGENT;
}

/** The rows as they stand, with the sub-agents of those that were unfolded. */
export function itemsOf(rows: readonly Row[], agents: ReadonlyMap<string, TreeAgent[] | null>): Item[] {
  const items: Item[] = [];
  for (const row of rows) {
    items.push({ kind: "session", key: row.key, row });
    const under = agents.get(row.key);
    if (under === null) items.push({ kind: "waiting", key: `${row.key} …` });
    const add = (list: TreeAgent[], depth: number) => {
      for (const agent of list) {
        items.push({ kind: "agent", key: `${row.key} ${agent.agent_id}`, row, agent, depth });
        add(agent.children ?? [], depth + 1);
      }
    };
    if (under) add(under, 0);
  }
  return items;
}

interface RowOptions {
  row: Row;
  id: string;
  app: AppHost;
  isPartial: boolean;
  isUnfolded: boolean;
  onUnfold: () => void;
}

export function SessionLine({ row, id, app, isPartial, isUnfolded, onUnfold }: RowOptions) {
  const changed = when(row.changed);
  const title = row.title || row.first_prompt || "Untitled session";
  const figure = (value: number | null, one: string) => (value === null ? <span class="faint">{isPartial ? "…" : "–"}</span> : plural(value, one));
  return (
    <div class="homeline">
      {row.agents > 0 && (
        <button type="button" class="homefold" aria-expanded={isUnfolded} aria-label={`${plural(row.agents, "sub-agent")} of ${visibleText(title).slice(0, 80)}`} title={plural(row.agents, "sub-agent")} onClick={onUnfold}><Icon name="chevron" /></button>
      )}
      <Link to={at("session", { session: row.key })} app={app} class="homerow" id={id}>
        <span class="homename">
          <span class="homefirst">
            <span class="hometitle" title={visibleText(title).slice(0, 400)}><Isolated text={title.slice(0, 400)} /></span>
            {row.live && <span class="homelive"><span class="livedot" aria-hidden="true" />live</span>}
            {row.damaged ? <span class="homedamaged"><Icon name="warning" />damaged</span> : null}
          </span>
          <span class="homebelow">
            {row.project && <span class="homeproject" title={visibleText(row.project)}><Isolated text={lastName(row.project)} /></span>}
            {row.git_branch && <span class="homebranch"><Isolated text={row.git_branch} /></span>}
            {changed !== null && <time dateTime={iso(changed)} title={moment(changed)}>{age(changed)}</time>}
            {row.agents > 0 && <span class="homeagents">{plural(row.agents, "sub-agent")}</span>}
            <span class="homesmall">{row.turns !== null && plural(row.turns, "turn")}</span>
          </span>
        </span>
        <span class="figure of-turns">{figure(row.turns, "turn")}</span>
        <span class="figure of-calls">{figure(row.tool_calls, "call")}</span>
        <span class="figure of-failures">{row.failed_calls ? <span class="err"><Icon name="failed" />{count(row.failed_calls)}{"\u00a0"}failed</span> : null}</span>
        <span class="figure of-cost" title={row.unpriced_messages ? `${plural(row.unpriced_messages, "message")} of models without a price` : undefined}>{isPartial && row.cost_usd === null ? <span class="faint">…</span> : money(row.cost_usd)}{row.unpriced_messages && row.cost_usd !== null ? "+" : ""}</span>
        <Activity values={row.activity} />
      </Link>
    </div>
  );
}

const WIDE = 64;
const HIGH = 20;

/** How busy the session was over its time, as bars of one drawing. */
function Activity({ values }: { values: number[] | null | undefined }) {
  if (!values?.length) return <span class="figure of-activity" />;
  const most = Math.max(1, ...values);
  const step = WIDE / values.length;
  const bars = values.map((value, n) => {
    const height = value > 0 ? Math.max(1.5, (value / most) * HIGH) : 0;
    return height > 0 ? `M${(n * step).toFixed(2)} ${HIGH}v${(-height).toFixed(2)}h${Math.max(1, step - 0.7).toFixed(2)}v${height.toFixed(2)}z` : "";
  });
  return <svg class="figure of-activity" viewBox={`0 0 ${WIDE} ${HIGH}`} width={WIDE} height={HIGH} aria-hidden="true"><path d={`M0 ${HIGH - 0.5}h${WIDE}v.5h${-WIDE}z${bars.join("")}`} /></svg>;
}

export function AgentLine({ row, agent, depth, app }: { row: Row; agent: TreeAgent; depth: number; app: AppHost }) {
  const spent = agent.tokens ? Object.values(agent.tokens).reduce((sum, value) => sum + value, 0) : null;
  return (
    <Link to={at("session", { session: row.key, agent: agent.agent_id })} app={app} class="agentrow">
      <span class="agentname" style={{ paddingInlineStart: `${Math.min(depth, 6) * 20}px` }}>
        <span class="agentelbow" aria-hidden="true" />
        <Isolated text={agent.type || "sub-agent"} />
        <code class="faint"><Isolated text={agent.agent_id.slice(0, 12)} /></code>
      </span>
      <span class="figure">{agent.turns !== null && plural(agent.turns, "turn")}</span>
      <span class="figure">{spent !== null && `${tokens(spent)} tokens`}</span>
    </Link>
  );
}
