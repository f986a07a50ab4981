// One line around a match, the match marked.

import type { ComponentChildren } from "preact";
import { visible } from "../../visible";

/** A text in runs, in and out of the matches; what stands far before the first match is cut. */
export function runs(snippet: string, ranges: readonly number[][], lead: number): { text: string; isMatch: boolean }[] {
  // The ranges count characters; what a browser counts are halves of some.
  const letters = Array.from(snippet);
  const made: { text: string; isMatch: boolean }[] = [];
  const sorted = ranges.map(([from = 0, to = 0]) => [Math.max(0, from), Math.min(letters.length, to)] as const).filter(([from, to]) => from < to).sort((a, b) => a[0] - b[0]);
  const first = sorted[0]?.[0] ?? 0;
  let at = first > lead ? first - lead : 0;
  if (at > 0) {
    // From the beginning of a word, if one is near.
    const space = letters.slice(at, Math.min(first, at + 12)).findIndex((letter) => /\s/.test(letter));
    at += space >= 0 ? space + 1 : 0;
    made.push({ text: "…", isMatch: false });
  }
  for (const [from, to] of sorted) {
    if (to <= at) continue;
    const start = Math.max(from, at);
    if (start > at) made.push({ text: letters.slice(at, start).join(""), isMatch: false });
    made.push({ text: letters.slice(start, to).join(""), isMatch: true });
    at = to;
  }
  if (at < letters.length) made.push({ text: letters.slice(at).join(""), isMatch: false });
  return made;
}

export function Snippet({ snippet, ranges, lead }: { snippet: string; ranges: readonly number[][]; lead: number }): ComponentChildren {
  return <bdi class="snippet">{runs(snippet, ranges, lead).map(({ text, isMatch }) => (isMatch ? <mark>{visible(text)}</mark> : visible(text)))}</bdi>;
}
