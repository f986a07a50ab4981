// Which words of a changed line changed.

export interface Run {
  text: string;
  isChanged: boolean;
}

const LONGEST = 160; // words of a line that are compared; a longer line is marked between its common ends

function split(text: string): string[] {
  return text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
}

function join(words: string[], changed: boolean[]): Run[] {
  const runs: Run[] = [];
  words.forEach((text, at) => {
    const isChanged = changed[at] === true;
    const last = runs[runs.length - 1];
    if (last && last.isChanged === isChanged) last.text += text;
    else runs.push({ text, isChanged });
  });
  return runs;
}

/** Both lines in runs of kept and changed words; null when they have too little in common to compare. */
export function compare(before: string, after: string): [Run[], Run[]] | null {
  const old = split(before);
  const now = split(after);
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < old.length - head && tail < now.length - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail += 1;
  const a = old.slice(head, old.length - tail);
  const b = now.slice(head, now.length - tail);
  const keptA = new Array<boolean>(a.length).fill(false);
  const keptB = new Array<boolean>(b.length).fill(false);
  if (a.length <= LONGEST && b.length <= LONGEST) common(a, b, keptA, keptB);
  const kept = (words: string[], flags: boolean[]) =>
    words.reduce((sum, word, at) => sum + (flags[at] && word.trim() ? word.length : 0), 0);
  const ends = [...old.slice(0, head), ...old.slice(old.length - tail)].join("").replace(/\s/g, "").length;
  const whole = Math.max(before.replace(/\s/g, "").length, after.replace(/\s/g, "").length);
  if (whole === 0 || (ends + kept(a, keptA)) / whole < 0.3) return null;
  const flags = (length: number, inner: boolean[]) =>
    Array.from({ length }, (_, at) => at >= head && at < head + inner.length && !inner[at - head]);
  return [join(old, flags(old.length, keptA)), join(now, flags(now.length, keptB))];
}

/** Mark the words of the longest common row of words. */
function common(a: string[], b: string[], keptA: boolean[], keptB: boolean[]): void {
  const width = b.length + 1;
  const best = new Uint16Array((a.length + 1) * width);
  const at = (i: number, j: number) => best[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      best[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) {
      keptA[i++] = true;
      keptB[j++] = true;
    } else if (at(i + 1, j) >= at(i, j + 1)) i += 1;
    else j += 1;
  }
}
