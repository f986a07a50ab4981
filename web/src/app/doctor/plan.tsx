// A plan as it is shown: how much smaller the context gets, and what becomes of which line, with the reason.

import { Icon } from "../../icons";
import { bytes, count, plural, tokens } from "../../text";
import { visible } from "../../visible";
import type { Edit as Outcome } from "../api";
import { Rolled } from "../rolled";

type Plan = Outcome & { context_tokens_counted?: boolean };

const ACTIONS: Record<string, string> = { patch: "changed", drop: "left out", add: "added", move: "moved" };
const ROW = 24;
const NO_CHANGE = "There is nothing to change."; // the server says what the first line here says

export function isNothing({ patched, dropped, added }: Outcome): boolean {
  return patched + dropped + added === 0;
}

export function PlanView({ plan, isOld }: { plan: Plan; isOld: boolean }) {
  const about = plan.context_tokens_counted ? "" : "≈\u00a0";
  const [before, after] = [plan.context_tokens_before, plan.context_tokens_after];
  const saved = before - after;
  const notes = plan.notes.filter((note) => !(isNothing(plan) && note === NO_CHANGE));
  return (
    <div class={isOld ? "plan is-old" : "plan"}>
      <p class="planline" role="status">
        {isNothing(plan) ? "Nothing would change." : <>
          <strong>{about}{amount(before)} → {about}{amount(after)} tokens</strong> of context
          {before > 0 && saved !== 0 && <span class={saved > 0 ? "ok" : "faint"}>{saved > 0 ? `, ${amount(saved)} saved (${share(saved / before)})` : `, ${amount(-saved)} more`}</span>}
        </>}
      </p>
      <p class="planfacts faint">
        <span>{plural(plan.kept, "line")} kept</span><span>{count(plan.patched)} changed</span><span>{count(plan.dropped)} left out</span>
        {plan.added > 0 && <span>{count(plan.added)} added</span>}
        <span>{bytes(plan.bytes_before)} → {bytes(plan.bytes_after)}</span>
        {plan.thinking_dropped > 0 && <span>{plural(plan.thinking_dropped, "thought")} left out, as the API refuses those after a change</span>}
      </p>
      {notes.length > 0 && <ul class="plannotes">{notes.map((note) => <li key={note}>{visible(note)}</li>)}</ul>}
      <Losses losses={plan.refused} />
      {plan.steps.length > 0 && <Steps plan={plan} />}
    </div>
  );
}

/** Small numbers to the last digit, as what is saved of them would not be seen otherwise. */
export function amount(n: number): string {
  return n < 10_000 ? count(n) : tokens(n);
}

function share(part: number): string {
  return part < 0.01 ? "<1%" : `${Math.round(part * 100)}%`;
}

export function Losses({ losses }: { losses: readonly string[] }) {
  if (losses.length === 0) return null;
  return (
    <div class="notice is-warning"><Icon name="warning" label="warning" />
      <div class="noticetext">This would lose what nobody asked to lose:<ul>{losses.map((loss) => <li key={loss}>{visible(loss)}</li>)}</ul></div>
    </div>
  );
}

function Steps({ plan }: { plan: Plan }) {
  const reasons = new Map<string, number>();
  for (const { reason } of plan.steps) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  return (
    <>
      {plan.steps.length > reasons.size && <ul class="reasons">{[...reasons].sort(([, a], [, b]) => b - a).slice(0, 8).map(([reason, n]) => <li key={reason}><span class="num">{count(n)} ×</span> <span>{visible(reason)}</span></li>)}</ul>}
      <Rolled class="steps" count={plan.steps.length} row={ROW} said={{ role: "list", tabIndex: 0, "aria-label": "What becomes of which line" }}
        draw={(from, to) => plan.steps.slice(from, to).map((step, n) => {
          const beside = (step as { path?: string }).path;
          return (
            <div key={from + n} class="step" role="listitem">
              <span class="steplinenumber">{typeof step.line === "number" ? `line ${count(step.line)}` : "–"}</span>
              <span class={`stepaction is-${step.action}`}>{ACTIONS[step.action] ?? visible(step.action)}</span>
              <span class="stepreason">{visible(step.reason)}{beside ? <span class="faint"> {visible(beside.split("/").pop() ?? beside)}</span> : null}</span>
            </div>
          );
        })} />
    </>
  );
}
