// The top of the page: what session this is, what was left out, and its turns in a table.

import type { ComponentChildren } from "preact";
import type { PageFacts } from "./data";
import { Icon } from "./icons";
import type { Head, TurnHead } from "./parts";
import { bytes, count, money, moment, plural, span, tokens, zone } from "./text";
import { wholeCalls, wholeCost } from "./whole";
import { Isolated, visible } from "./visible";

const FIRST = 12;

export function when(started: number | null | undefined, ended: number | null | undefined): string {
  if (typeof started !== "number") return "";
  const from = moment(started);
  if (typeof ended !== "number" || moment(ended) === from) return from;
  const to = moment(ended);
  return to.slice(0, 10) === from.slice(0, 10) ? `${from} – ${to.slice(11)}` : `${from} – ${to}`;
}

export function Facts({ facts }: { facts: PageFacts }) {
  const { head } = facts;
  const rows: [string, ComponentChildren][] = [];
  const say = (name: string, value: ComponentChildren) => value && rows.push([name, value]);
  say("Project", head.project && <Isolated class="mono" text={head.project} />);
  say("Branch", head.branch && <Isolated class="mono" text={head.branch} />);
  say("When", when(head.started, head.ended) && <>{when(head.started, head.ended)} <span class="faint">{zone()}</span></>);
  say("Work", <WorkFact head={head} />);
  say("Models", (head.models ?? []).length > 0 && <NameList items={head.models ?? []} />);
  say("Cost", <CostFact head={head} />);
  say("Secrets", visible(redactionWords(facts)));
  say("Left out", (facts.left_out ?? []).length > 0 && <span>{visible((facts.left_out ?? []).join("; "))}</span>);
  say("Damage", head.damaged ? <span class="warn"><Icon name="warning" /> {plural(head.damaged, "piece")} of the file could not be read; each is marked where it stands</span> : null);
  return <dl class="facts">{rows.map(([name, value]) => <div><dt>{name}</dt><dd>{value}</dd></div>)}</dl>;
}

export function NameList({ items }: { items: string[] }) {
  return <>{items.map((item, at) => <>{at > 0 && ", "}<Isolated class="mono" text={item} /></>)}</>;
}

export function WorkFact({ head }: { head: Head }) {
  const { work } = head;
  const [calls, failed] = wholeCalls(head);
  const inside = head.inside_calls ?? 0;
  const outside = (head.agents_work?.calls ?? 0) - inside;
  const outsideFailed = (head.agents_work?.failed ?? 0) - (head.inside_failed ?? 0);
  return (
    <>
      {plural(head.turns, "turn")}, {plural(calls, "call")}
      {failed ? <span class="err">, {count(failed)} failed</span> : null}
      {inside ? <>, {count(inside)} of them by {plural(head.agents ?? 0, "sub-agent")}</> : null}
      {outside ? <>, {count(outside)} more by {plural(head.agents ?? 0, "sub-agent")}</> : null}
      {outsideFailed ? <span class="err"> ({count(outsideFailed)} failed)</span> : null}
      {work.files ? <>, {plural(work.files, "file")} changed <span class="nobreak">(+{count(work.added ?? 0)} −{count(work.removed ?? 0)})</span></> : null}
      {head.agents && !inside && !outside ? <>, {plural(head.agents, "sub-agent")}</> : null}
      {head.compactions ? <>, {plural(head.compactions, "compaction")}</> : null}
    </>
  );
}

export function CostFact({ head }: { head: Head }) {
  const cost = wholeCost(head);
  const used = (head.work.total_tokens ?? 0) + (head.agents_work?.total_tokens ?? 0);
  const share = head.agents_work?.cost_usd;
  const unpriced = head.unpriced ?? [];
  const notes: ComponentChildren[] = [];
  if (head.prices) notes.push(<>prices of {visible(head.prices)}</>);
  if (unpriced.length > 0) notes.push(<>no price known for <NameList items={unpriced} /></>);
  return (
    <>
      {money(cost)}{share ? `, ${money(share)} of it by ${plural(head.agents ?? 0, "sub-agent")}` : ""}
      {used ? `, ${tokens(used)} tokens` : ""}
      {notes.map((note) => <span class="faint"> · {note}</span>)}
    </>
  );
}

/** What was done about secrets, in words. */
export function redactionWords(facts: PageFacts): string {
  const found = Object.entries(facts.redacted ?? {}).filter(([, n]) => n > 0);
  if (!facts.is_redacted) return "not looked for: this page holds the session as it was";
  if (found.length === 0) return "looked for, none found";
  const total = found.reduce((sum, [, n]) => sum + n, 0);
  return `${plural(total, "secret")} taken out (${found.map(([name, n]) => `${name}: ${count(n)}`).join(", ")})`;
}

export function MoreFacts({ facts }: { facts: PageFacts }) {
  const { head } = facts;
  const rows: [string, ComponentChildren][] = [["Session", <Isolated class="mono" text={head.session} />]];
  const others = (head.session_ids ?? []).filter((id) => id !== head.session);
  if (others.length) rows.push(["Also named", <NameList items={others} />]);
  if (head.slug) rows.push(["Slug", <Isolated class="mono" text={head.slug} />]);
  if (head.versions?.length) rows.push(["Client", <NameList items={head.versions} />]);
  if (head.lines) rows.push(["File", `${plural(head.lines, "line")}, ${bytes(head.bytes ?? 0)}`]);
  if (head.branches && head.branches > 1) rows.push(["Branches", count(head.branches)]);
  rows.push(["Made by", visible(`clew ${facts.version ?? ""}`)]);
  return (
    <details class="morefacts">
      <summary>More facts</summary>
      <dl class="facts">{rows.map(([name, value]) => <div><dt>{name}</dt><dd>{value}</dd></div>)}</dl>
    </details>
  );
}

interface TurnTableOptions {
  heads: TurnHead[];
  isAll: boolean;
  showAll: () => void;
}

export function TurnTable({ heads, isAll, showAll }: TurnTableOptions) {
  if (heads.length === 0) return null;
  const shown = isAll || heads.length <= FIRST + 3 ? heads : heads.slice(0, FIRST);
  const failed = heads.some((head) => head.work.failed);
  return (
    <nav class="turntable" aria-label="Table of turns">
      <table>
        <thead>
          <tr>
            <th scope="col" class="num">Turn</th><th scope="col">Prompt</th><th scope="col" class="num">Time</th>
            <th scope="col" class="num">Calls</th>{failed && <th scope="col" class="num">Failed</th>}<th scope="col" class="num">Cost</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((head) => (
            <tr key={head.n} class={head.is_off ? "is-off" : undefined}>
              <td class="num">{head.n}</td>
              <td class="what"><a href={`#t${head.n}`}><bdi>{head.title ? visible(head.title) : "(no words)"}</bdi></a></td>
              <td class="num">{typeof head.work.duration_ms === "number" ? `${head.work.is_estimated ? "≈ " : ""}${span(head.work.duration_ms)}` : ""}</td>
              <td class="num">{head.work.calls ? count(head.work.calls) : ""}</td>
              {failed && <td class="num err">{head.work.failed ? <><Icon name="failed" label="failed" />{count(head.work.failed)}</> : ""}</td>}
              <td class="num">{head.work.cost_usd === null || head.work.cost_usd ? money(head.work.cost_usd) : ""}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length < heads.length && <button type="button" class="more" onClick={showAll}>{`Show all ${count(heads.length)} turns`}</button>}
    </nav>
  );
}
