// What changed in a file, with the numbers of its lines and the changed words marked.

import type { ComponentChildren } from "preact";
import type { Place } from "./folds";
import type { Diff, Hunk } from "./parts";
import { count, plural } from "./text";
import { visible, visibleText } from "./visible";
import { compare, type Run } from "./words";

const SHOWN = 60;

interface Row {
  sign: string;
  old: number | null;
  now: number | null;
  text: string;
  runs: Run[] | null;
}

function rowsOf([oldStart, newStart, lines]: Hunk): Row[] {
  const rows: Row[] = [];
  let old = oldStart;
  let now = newStart;
  for (const line of lines) {
    const sign = line[0] ?? " ";
    const text = line.slice(1);
    if (sign === "+") rows.push({ sign, old: null, now: now++, text, runs: null });
    else if (sign === "-") rows.push({ sign, old: old++, now: null, text, runs: null });
    else if (sign === "\\") rows.push({ sign: " ", old: null, now: null, text: line, runs: null });
    else rows.push({ sign: " ", old: old++, now: now++, text, runs: null });
  }
  markWords(rows);
  return rows;
}

function markWords(rows: Row[]): void {
  for (let at = 0; at < rows.length; ) {
    let middle = at;
    while (rows[middle]?.sign === "-") middle += 1;
    let end = middle;
    while (rows[end]?.sign === "+") end += 1;
    // Only what was replaced line by line can be told apart word by word.
    if (middle - at > 0 && middle - at === end - middle) {
      for (let n = 0; n < middle - at; n += 1) {
        const before = rows[at + n] as Row;
        const after = rows[middle + n] as Row;
        const both = compare(before.text, after.text);
        if (both) [before.runs, after.runs] = both;
      }
    }
    at = Math.max(end, at + 1);
  }
}

const CLASSES: Record<string, string> = { "+": "dl add", "-": "dl del", " ": "dl" };

function Line({ row, wide }: { row: Row; wide: number }) {
  const number = (n: number | null) => (n === null ? "" : String(n)).padStart(wide);
  return (
    <div class={CLASSES[row.sign] ?? "dl"}>
      <span class="ln" aria-hidden="true">{`${number(row.old)} ${number(row.now)}`}</span>
      <span class="sg">{row.sign === "-" ? "−" : row.sign}</span>
      <span class="tx">{row.runs ? row.runs.map(word) : visible(row.text)}{"\n"}</span>
    </div>
  );
}

function word(run: Run): ComponentChildren {
  return run.isChanged ? <b class="chg">{visible(run.text)}</b> : visible(run.text);
}

export function Changes({ added, removed }: { added: number; removed: number }) {
  if (added === 0 && removed === 0) return null;
  return (
    <span class="changes">
      {added > 0 ? <span class="plus">+{count(added)}</span> : null}{" "}
      {removed > 0 ? <span class="minus">−{count(removed)}</span> : null}
    </span>
  );
}

export function DiffBlock({ diff, place }: { diff: Diff; place: Place }) {
  const { folds, key } = place;
  const total = diff.hunks.reduce((sum, hunk) => sum + hunk[2].length, 0);
  const isLong = total > SHOWN + 8 && !folds.isPrint;
  const isAll = !isLong || folds.isOpen(`${key}#all`, false);
  let left = isAll ? Infinity : SHOWN;
  const highest = Math.max(1, ...diff.hunks.map((hunk) => Math.max(hunk[0], hunk[1]) + hunk[2].length));
  const wide = String(highest).length;
  return (
    <div class="code diff">
      <div class="codelabel">
        <bdi>{visible(diff.path)}</bdi>
        {diff.is_new && <span>new file</span>}
        <Changes added={diff.added ?? 0} removed={diff.removed ?? 0} />
      </div>
      <div class="difflines" tabIndex={0} role="group" aria-label={`Changes to ${visibleText(diff.path)}`}>
        {diff.hunks.map((hunk, at) => {
          if (left <= 0) return null;
          const rows = rowsOf(hunk).slice(0, left);
          left -= rows.length;
          return (
            <div class="hunk">
              {at > 0 && <div class="gap" aria-hidden="true">⋯</div>}
              {rows.map((row) => <Line row={row} wide={wide} />)}
            </div>
          );
        })}
      </div>
      {isLong && (
        <button type="button" class="more" aria-expanded={isAll} onClick={(event) => folds.toggle(`${key}#all`, false, event.currentTarget)}>
          {isAll ? `Show the first ${SHOWN} lines` : `Show all ${plural(total, "line")}`}
        </button>
      )}
    </div>
  );
}
