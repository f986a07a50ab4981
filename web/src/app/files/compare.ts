// What makes two texts different, line by line, as the parts of a diff that the reader draws.

import type { Diff, Hunk } from "../../parts";

const AROUND = 3;
const MOST = 2000; // lines that may differ before two texts count as different altogether

function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines[lines.length - 1] === "") lines.pop();
  return lines;
}

/** For each line of both whether it stays. The shortest way from one to the other, after Myers. */
function kept(old: string[], now: string[]): [boolean[], boolean[]] {
  const keptOld = new Array<boolean>(old.length).fill(false);
  const keptNow = new Array<boolean>(now.length).fill(false);
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) {
    keptOld[head] = keptNow[head] = true;
    head += 1;
  }
  let tail = 0;
  while (tail < old.length - head && tail < now.length - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) {
    tail += 1;
    keptOld[old.length - tail] = keptNow[now.length - tail] = true;
  }
  const [n, m] = [old.length - head - tail, now.length - head - tail];
  const most = Math.min(n + m, MOST);
  const reach = new Int32Array(2 * most + 3).fill(0);
  const ways: Int32Array[] = [];
  const at = (k: number) => k + most + 1;
  let found = -1;
  for (let d = 0; d <= most && found < 0; d += 1) {
    ways.push(reach.slice(at(-d) - 1, at(d) + 2));
    for (let k = -d; k <= d; k += 2) {
      const isDown = k === -d || (k !== d && (reach[at(k - 1)] as number) < (reach[at(k + 1)] as number));
      let x = isDown ? (reach[at(k + 1)] as number) : (reach[at(k - 1)] as number) + 1;
      let y = x - k;
      while (x < n && y < m && old[head + x] === now[head + y]) {
        x += 1;
        y += 1;
      }
      reach[at(k)] = x;
      if (x >= n && y >= m) {
        found = d;
        break;
      }
    }
  }
  if (found < 0) return [keptOld, keptNow];
  let [x, y] = [n, m];
  for (let d = found; d > 0; d -= 1) {
    const way = ways[d] as Int32Array;
    const before = (k: number) => way[k + d + 1] as number;
    const k = x - y;
    const isDown = k === -d || (k !== d && before(k - 1) < before(k + 1));
    const [px, py] = isDown ? [before(k + 1), before(k + 1) - (k + 1)] : [before(k - 1), before(k - 1) - (k - 1)];
    const [sx, sy] = isDown ? [px, py + 1] : [px + 1, py];
    while (x > sx && y > sy) {
      x -= 1;
      y -= 1;
      keptOld[head + x] = keptNow[head + y] = true;
    }
    [x, y] = [px, py];
  }
  while (x > 0 && y > 0) {
    x -= 1;
    y -= 1;
    keptOld[head + x] = keptNow[head + y] = true;
  }
  return [keptOld, keptNow];
}

export function compareTexts(path: string, before: string, after: string): Diff {
  const [old, now] = [linesOf(before), linesOf(after)];
  const [keptOld, keptNow] = kept(old, now);
  const hunks: Hunk[] = [];
  let [added, removed] = [0, 0];
  let lines: string[] = [];
  let start: [number, number] = [0, 0];
  let quiet = 0; // lines that stay, since the last that does not
  let [i, j] = [0, 0];
  const close = () => {
    if (lines.length === 0) return;
    hunks.push([start[0] + 1, start[1] + 1, lines.slice(0, lines.length - Math.max(0, quiet - AROUND))]);
    lines = [];
  };
  while (i < old.length || j < now.length) {
    const isKept = i < old.length && j < now.length && keptOld[i] && keptNow[j];
    if (isKept) {
      if (lines.length > 0) {
        lines.push(` ${old[i]}`);
        quiet += 1;
        if (quiet > 2 * AROUND) close();
      }
      i += 1;
      j += 1;
      continue;
    }
    if (lines.length === 0) {
      const lead = Math.min(AROUND, i, j);
      start = [i - lead, j - lead];
      lines = old.slice(i - lead, i).map((line) => ` ${line}`);
    }
    quiet = 0;
    while (i < old.length && !keptOld[i]) {
      lines.push(`-${old[i++]}`);
      removed += 1;
    }
    while (j < now.length && !keptNow[j]) {
      lines.push(`+${now[j++]}`);
      added += 1;
    }
  }
  close();
  return { kind: "diff", path, hunks, added, removed };
}
