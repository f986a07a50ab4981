// What was done, in one line: the same words for a turn, a sub-agent and a session.

import type { ComponentChildren } from "preact";
import { Changes } from "./diff";
import { Icon } from "./icons";
import type { Work } from "./parts";
import { money, plural, span, tokens } from "./text";

/** The facts of a work line, each in its own element; a thing that did not happen is not named. */
export function workFacts(work: Work): ComponentChildren[] {
  const made: ComponentChildren[] = [];
  const say = (name: string, what: ComponentChildren) => made.push(<span class={`fact fact-${name}`}>{what}</span>);
  if (work.calls) say("calls", plural(work.calls, "call"));
  if (work.failed) say("failed", <><Icon name="failed" />{`${work.failed.toLocaleString("en-US")} failed`}</>);
  if (work.files) say("files", <>{plural(work.files, "file")} <Changes added={work.added ?? 0} removed={work.removed ?? 0} /></>);
  if (typeof work.duration_ms === "number") say("time", `${work.is_estimated ? "≈ " : ""}${span(work.duration_ms)}`);
  if (work.context_tokens) say("context", `${tokens(work.context_tokens)} context`);
  if (work.output_tokens) say("out", `${tokens(work.output_tokens)} out`);
  if (work.cost_usd === null) say("cost", <span title="The price of a model is not known">–</span>);
  else if (work.cost_usd) say("cost", money(work.cost_usd));
  return made;
}

export function WorkLine({ work, class: name = "workline" }: { work: Work; class?: string }) {
  const facts = workFacts(work);
  return facts.length > 0 ? <p class={name}>{facts}</p> : null;
}
