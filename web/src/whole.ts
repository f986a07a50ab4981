// What a session came to with its sub-agents: the numbers of `clew ls`, as clew.view.whole has them.

import type { Head } from "./parts";

/** What the answers with a known price cost; null when none has one. */
export function wholeCost(head: Head): number | null {
  const own = head.work.cost_usd === undefined ? 0 : head.work.cost_usd;
  const theirs = head.agents_work?.cost_usd === undefined ? 0 : head.agents_work.cost_usd;
  if (own || theirs) return (own ?? 0) + (theirs ?? 0);
  return theirs === null ? null : own;
}

/** The calls in the session's own file, and how many of them failed. */
export function wholeCalls(head: Head): [number, number] {
  return [(head.work.calls ?? 0) + (head.inside_calls ?? 0), (head.work.failed ?? 0) + (head.inside_failed ?? 0)];
}
