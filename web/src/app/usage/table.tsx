// What was used, row by row: five kinds of tokens apart, and what they would cost.

import { Component, type ComponentChildren } from "preact";
import { count, money, plural, tokens } from "../../text";
import type { Usage } from "../api";
import { saying, type Address } from "../address";
import { Link } from "../pieces";
import type { AppHost } from "../view";
import { Icon } from "../../icons";

type Row = Usage["rows"][number];
type Column = "key" | "input" | "output" | "cache_read" | "cache_write_5m" | "cache_write_1h" | "cost";

const COLUMNS: [Exclude<Column, "key" | "cost">, string, string][] = [
  ["input", "Input", "in"],
  ["output", "Output", "out"],
  ["cache_read", "Cache read", "read"],
  ["cache_write_5m", "Cache write 5m", "5m"],
  ["cache_write_1h", "Cache write 1h", "1h"],
];
const SHOWN = 50;

export interface Named {
  /** What stands in the first column. */
  what: ComponentChildren;
  /** The sessions of the row, null where nobody could tell which. */
  to: Address | null;
}

interface TableOptions {
  usage: Usage;
  /** What the rows are. */
  head: string;
  caption: string;
  name: (row: Row) => Named;
  address: Address;
  app: AppHost;
}

function isColumn(text: string | undefined): text is Column {
  return text === "key" || text === "cost" || COLUMNS.some(([name]) => name === text);
}

function valueOf(row: Row, column: Column): number | string {
  if (column === "key") return row.key;
  if (column === "cost") return row.cost_usd ?? -1;
  return row.tokens[column];
}

export class UsageTable extends Component<TableOptions, { isAll: boolean }> {
  override state = { isAll: false };

  private get order(): { column: Column; isUp: boolean } {
    const { said } = this.props.address;
    const isByTime = this.props.usage.by === "day";
    const column = isColumn(said.sort) ? said.sort : isByTime ? "key" : "cost";
    return { column, isUp: said.order === "up" || (said.order !== "down" && column === "key" && !isByTime) };
  }

  private head(column: Column, word: string, short: string, name: string) {
    const { address, app } = this.props;
    const { column: sorted, isUp } = this.order;
    const isSorted = sorted === column;
    const next = isSorted ? (isUp ? "down" : "up") : column === "key" && this.props.usage.by !== "day" ? "up" : "down";
    return (
      <th scope="col" role="columnheader" class={name} aria-sort={isSorted ? (isUp ? "ascending" : "descending") : undefined}>
        <button type="button" title={word} onClick={() => app.go(saying(address, { sort: column, order: next }), { replace: true })}>
          {isSorted && <Icon name={isUp ? "up" : "down"} />}<span class="longword">{word}</span><span class="shortword">{short}</span>
        </button>
      </th>
    );
  }

  render({ usage, head, caption, name, app }: TableOptions, { isAll }: { isAll: boolean }) {
    const { column, isUp } = this.order;
    const rows = [...usage.rows].sort((a, b) => {
      const [x, y] = [valueOf(a, column), valueOf(b, column)];
      return (x < y ? -1 : x > y ? 1 : 0) * (isUp ? 1 : -1);
    });
    const shown = isAll ? rows : rows.slice(0, SHOWN);
    const most = Math.max(0, ...usage.rows.map((row) => row.cost_usd ?? 0));
    return (
      <>
        <table class="usagetable" role="table">
          <caption class="unseen">{caption}</caption>
          <thead role="rowgroup">
            <tr role="row">
              {this.head("key", head, head, "what")}
              {COLUMNS.map(([key, word, short]) => this.head(key, word, short, "num"))}
              {this.head("cost", "Cost", "Cost", "num")}
              <td class="sharehead" role="cell" />
            </tr>
          </thead>
          <tbody role="rowgroup">
            {shown.map((row) => {
              const { what, to } = name(row);
              return (
                <tr key={row.key} role="row">
                  <th scope="row" role="rowheader" class="what">{to ? <Link to={to} app={app}>{what}</Link> : what}</th>
                  <Figures sum={row} />
                  <td class="share" role="cell">{most > 0 && <ShareLine share={(row.cost_usd ?? 0) / most} />}</td>
                </tr>
              );
            })}
          </tbody>
          <tfoot role="rowgroup">
            <tr role="row"><th scope="row" role="rowheader" class="what">Total</th><Figures sum={usage.total} /><td class="share" role="cell" /></tr>
          </tfoot>
        </table>
        {usage.rows_total > rows.length && <p class="faint smallwords">The {count(rows.length)} costliest of {count(usage.rows_total)}; the total is of all.</p>}
        {rows.length > SHOWN && (
          <button type="button" class="more" aria-expanded={isAll} onClick={() => this.setState({ isAll: !isAll })}>
            {isAll ? `Show the first ${SHOWN}` : `Show all ${count(rows.length)} rows`}
          </button>
        )}
      </>
    );
  }
}

function ShareLine({ share }: { share: number }) {
  return <svg class="shareline" width="64" height="8" aria-hidden="true"><rect width={Math.max(share > 0 ? 1 : 0, share * 64)} height="8" rx="1" /></svg>;
}

function Figures({ sum }: { sum: Usage["total"] }) {
  return (
    <>
      {COLUMNS.map(([key]) => <td key={key} role="cell" class={sum.tokens[key] === 0 ? "num faint" : "num"} title={count(sum.tokens[key])}>{tokens(sum.tokens[key])}</td>)}
      <td class="num cost" role="cell" title={sum.unpriced_messages > 0 ? `${plural(sum.unpriced_messages, "message")} without a price` : undefined}>
        {money(sum.cost_usd)}{sum.unpriced_messages > 0 && sum.cost_usd !== null && <span class="warn" aria-label="and more that has no price">+</span>}
      </td>
    </>
  );
}
