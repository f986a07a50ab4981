// Lines of fixed width: a few of them first, all of them on demand.

import type { Folds, Place } from "./folds";
import type { Code } from "./parts";
import { bytes, count, lineCount } from "./text";
import { visible, visibleText } from "./visible";

export const SHOWN = 20;
const TAIL = 12;
const SLACK = 4; // a fold that hides less than this is not worth a press
const BLOCK = 200; // lines in one element, so that the browser lays out only those near the screen

export type Cut = "head" | "tail" | "none";

interface Piece {
  text: string;
  firstLine: number;
}

/** The text in as many elements as it needs. */
function Lines({ text, numbers }: { text: string; numbers: number | null }) {
  const lines = text.split("\n");
  const pieces: Piece[] = [];
  for (let at = 0; at < lines.length; at += BLOCK) {
    pieces.push({ text: lines.slice(at, at + BLOCK).join("\n"), firstLine: at });
  }
  return pieces.map((piece) => {
    const length = Math.min(BLOCK, lines.length - piece.firstLine);
    const style = pieces.length > 1 ? { containIntrinsicSize: `auto ${length * 20}px` } : undefined;
    return (
      <div class={pieces.length > 1 ? "rows far" : "rows"} style={style}>
        {numbers !== null && (
          <span class="nums" aria-hidden="true">
            {Array.from({ length }, (_, n) => numbers + piece.firstLine + n).join("\n")}
          </span>
        )}
        <code>{visible(piece.text)}{"\n"}</code>
      </div>
    );
  });
}

function cutTo(text: string, limit: number, side: Cut): string {
  const lines = text.split("\n");
  return (side === "tail" ? lines.slice(-limit) : lines.slice(0, limit)).join("\n");
}

export function CodeBlock({ code, place, cut }: { code: Code; place: Place; cut: Cut }) {
  const { folds, key } = place;
  const text = code.text.endsWith("\n") ? code.text.slice(0, -1) : code.text;
  const total = lineCount(text);
  const limit = folds.isPrint ? SHOWN : cut === "tail" ? TAIL : SHOWN;
  const isLong = folds.isPrint ? total > limit : cut !== "none" && total > limit + SLACK;
  const isAll = !isLong || (!folds.isPrint && folds.isOpen(`${key}#all`, false));
  const shown = isAll ? text : cutTo(text, limit, cut);
  const skipped = isAll || cut !== "tail" ? 0 : total - limit;
  const label = [code.stream === "err" ? "errors" : "", code.path ?? "", code.language ?? ""].filter(Boolean);
  const excerpt = code.total_lines && code.total_lines > total ? `${count(total)} of ${count(code.total_lines)} lines` : "";
  const more = isLong && <More folds={folds} all={`${key}#all`} isAll={isAll} total={total} size={text.length} limit={limit} cut={cut} />;
  return (
    <div class={`code${code.stream === "err" ? " is-err" : ""}`}>
      {(label.length > 0 || excerpt) && (
        <div class="codelabel">{label.map((one) => <bdi>{visible(one)}</bdi>)}{excerpt && <span>{excerpt}</span>}</div>
      )}
      {cut === "tail" && more}
      <pre tabIndex={0} role="group" aria-label={visibleText(label[0] ?? "Code")}>
        <Lines text={shown} numbers={typeof code.first_line === "number" ? code.first_line + skipped : null} />
      </pre>
      {cut !== "tail" && more}
    </div>
  );
}

interface MoreOptions {
  folds: Folds;
  all: string;
  isAll: boolean;
  total: number;
  size: number;
  limit: number;
  cut: Cut;
}

function More({ folds, all, isAll, total, size, limit, cut }: MoreOptions) {
  if (folds.isPrint) return <p class="cutnote">{`${count(total - limit)} ${cut === "tail" ? "earlier" : "more"} lines`}</p>;
  return (
    <button type="button" class="more" aria-expanded={isAll} onClick={(event) => folds.toggle(all, false, event.currentTarget)}>
      {isAll ? `Show ${cut === "tail" ? "the last" : "the first"} ${limit} lines` : `Show all ${count(total)} lines (${bytes(size)})`}
    </button>
  );
}
