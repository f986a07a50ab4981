// What was used and what it would have cost: one sentence, the days, a year, and tables. All numbers are of one period.

import { Component } from "preact";
import { day as dayOf, money, plural, tokens, zone } from "../../text";
import { Isolated, visible } from "../../visible";
import { at, saying, type Address } from "../address";
import { Answer } from "../answer";
import type { Usage as UsageAnswer } from "../api";
import { Choice } from "../choice";
import { Download } from "../download";
import { events } from "../events";
import { Empty, Failed, Skeleton } from "../pieces";
import { titles } from "../titles";
import type { ViewOptions } from "../view";
import { Bars, BarsTable } from "./bars";
import { Calendar, MOST_WEEKS } from "./calendar";
import { allTokens, cachedShare, chartOf, dayKey, dayNumber, OTHERS, periodOf, SPANS, type Bucket, type Measure, type Period } from "./period";
import { UsageTable, type Named } from "./table";

const TABLES = ["day", "model", "project", "tool", "session"] as const;
type By = (typeof TABLES)[number];
const WORDS: Record<By, string> = { day: "Day", model: "Model", project: "Project", tool: "Tool", session: "Session" };
const MOST_ROWS = 500; // of a table; the costliest come first
const FRESH = 15_000; // milliseconds between two looks while sessions are being written

export class Usage extends Component<ViewOptions, { tick: number; looked: number | null }> {
  override state: { tick: number; looked: number | null } = { tick: 0, looked: null };
  private readonly changed = () => this.setState(({ tick }) => ({ tick: tick + 1 }));
  private readonly days = new Answer<UsageAnswer, Period>(this.changed);
  private readonly year = new Answer<UsageAnswer, string>(this.changed);
  private readonly table = new Answer<UsageAnswer, { by: By; period: Period }>(this.changed);
  private silence: (() => void) | null = null;
  private timer = 0;

  override componentDidMount(): void {
    this.want();
    this.silence = events.listen(() => {
      if (this.timer) return;
      this.timer = setTimeout(() => {
        this.timer = 0;
        const all = [this.days, this.year, this.table];
        // Nobody looks, or the last look is not done yet: the next event will do.
        if (document.hidden || all.some((one) => one.isAsking)) return;
        for (const one of all) one.again();
      }, FRESH);
    });
  }

  override componentDidUpdate(): void {
    this.want();
  }

  override componentWillUnmount(): void {
    this.silence?.();
    clearTimeout(this.timer);
    for (const one of [this.days, this.year, this.table]) one.end();
  }

  private get today(): string {
    return dayOf(Date.now());
  }

  private get period(): Period {
    return periodOf(this.props.address.said, this.today);
  }

  private get measure(): Measure {
    return this.props.address.said.show === "tokens" ? "tokens" : "cost";
  }

  private get by(): By {
    return TABLES.find((one) => one === this.props.address.said.by) ?? "day";
  }

  private want(): void {
    const { period, by } = this;
    const tz = zone();
    const until = period.until ?? this.today;
    this.days.want("/api/usage", { by: "day", and: "model", since: period.since, until: period.until, tz }, period);
    this.year.want("/api/usage", { by: "day", since: dayKey((dayNumber(until) ?? 0) - MOST_WEEKS * 7), until, tz }, until);
    if (by === "day") this.table.clear();
    else this.table.want("/api/usage", { by, since: period.since, until: period.until, tz, limit: MOST_ROWS }, { by, period });
  }

  private sessionsOf(period: Period, more: Record<string, string | undefined> = {}): Address {
    return at("home", { since: period.since ?? undefined, until: period.until ?? undefined, ...more });
  }

  render({ address, app }: ViewOptions) {
    const { period } = this;
    const { value, error, waiting } = this.days;
    return (
      <main class="page usage">
        <div class="viewhead">
          <h1>Usage</h1>
          <Choice label="Period" app={app} options={SPANS.map((span) => ({
            word: span === "all" ? "All" : `${span} days`, isChosen: period.span === span,
            to: saying(address, { days: span === "30" ? undefined : span, since: undefined, until: undefined }),
          }))} />
          <DayRange period={period} onChoose={(since, until) => app.go(saying(address, { since, until, days: undefined }))} />
        </div>
        {error ? <Failed error={error} again={() => this.days.again()} /> : null}
        {!value && !error && (waiting ? <p class="indexing" role="status">{waiting}</p> : <Skeleton rows={6} />)}
        {value && this.days.question && this.told(value, this.days.question)}
      </main>
    );
  }

  private told(usage: UsageAnswer, period: Period) {
    const { address, app } = this.props;
    if (usage.total.messages === 0) return <Nothing period={period} usage={usage} all={() => app.go(saying(address, { days: "all", since: undefined, until: undefined }))} />;
    const { measure, today } = this;
    const chart = chartOf(usage.rows, period, measure, today);
    const looked = this.state.looked === null ? null : (chart.buckets[this.state.looked] ?? null);
    const says = (bucket: Bucket) => `${bucket.label}: ${money(bucket.tokens === 0 ? 0 : bucket.cost)}, ${tokens(bucket.tokens)} tokens`;
    const untimed = usage.rows.filter((row) => dayNumber(row.key) === null).reduce((sum, row) => sum + row.messages, 0);
    return (
      <>
        <p class="sentence">{period.name}: <Sentence usage={usage} /></p>
        <section class="chart" aria-labelledby="chart-title">
          <div class="sectionhead">
            <h2 id="chart-title">{measure === "cost" ? "Cost" : "Tokens"} by {chart.step}</h2>
            <Choice label="What the bars show" app={app} options={(["cost", "tokens"] as const).map((one) => ({
              word: one === "cost" ? "Cost" : "Tokens", isChosen: measure === one, to: saying(address, { show: one === "cost" ? undefined : one }),
            }))} />
          </div>
          <Bars chart={chart} measure={measure} label={`${measure === "cost" ? "Cost" : "Tokens"} by ${chart.step}`} says={says} looked={this.state.looked}
            onLook={(at) => { if (at !== this.state.looked) this.setState({ looked: at }); }}
            onPick={(bucket) => app.go(at("home", { since: dayKey(bucket.first), until: dayKey(bucket.last) }))} />
          <p class="reads" aria-hidden="true">
            {looked ? <><strong>{looked.label}</strong><span>{money(looked.tokens === 0 ? 0 : looked.cost)}</span><span>{tokens(looked.tokens)} tokens</span></> : <span class="faint">Point at a bar to read it, press it to open its sessions.</span>}
          </p>
          <ul class="legend">
            {chart.series.map((name, n) => {
              const part = looked ? looked.parts[n] ?? 0 : chart.buckets.reduce((sum, one) => sum + (one.parts[n] ?? 0), 0);
              return (
                <li key={name}>
                  <svg width="10" height="10" aria-hidden="true"><rect class={`series${n}`} width="10" height="10" rx="2" /></svg>
                  <Isolated text={name === OTHERS ? name : shortModel(name)} />
                  <span class="faint">{part === 0 ? (usage.unpriced_models.includes(name) && measure === "cost" ? "–" : "") : measure === "cost" ? money(part) : tokens(part)}</span>
                </li>
              );
            })}
          </ul>
          {untimed > 0 && <p class="faint smallwords">{plural(untimed, "message")} without a time: in the total, not in the bars.</p>}
          <BarsTable chart={chart} measure={measure} caption={`${measure === "cost" ? "Cost" : "Tokens"} by ${chart.step} and model, ${period.name}`} />
        </section>
        {this.year.value && this.year.question && <Calendar usage={this.year.value} until={this.year.question} measure={measure} onPick={(since, until) => app.go(at("home", { since, until }))} />}
        <section class="tables" aria-labelledby="table-title">
          <div class="sectionhead">
            <h2 id="table-title">{period.name} by {this.by}</h2>
            <Choice label="Add up by" app={app} options={TABLES.map((by) => ({ word: WORDS[by], isChosen: by === this.by, to: saying(address, { by: by === "day" ? undefined : by, sort: undefined, order: undefined }) }))} />
          </div>
          {this.tabled(usage, period)}
        </section>
        <Footer usage={usage} period={period} by={this.by} />
      </>
    );
  }

  private tabled(days: UsageAnswer, period: Period) {
    const { address, app } = this.props;
    if (this.by === "day") return <UsageTable usage={days} head="Day" caption={`By day, ${period.name}`} name={(row) => this.named(row.key, "day", period)} address={address} app={app} />;
    const { value, question, error, waiting } = this.table;
    if (error) return <Failed error={error} again={() => this.table.again()} />;
    if (!value || question?.by !== this.by) return waiting ? <p class="indexing">{waiting}</p> : <Skeleton rows={4} />;
    if (question.by === "session") titles.want(value.rows.slice(0, 50).map((row) => row.session_key ?? row.key), this.changed);
    return (
      <UsageTable key={question.by} usage={value} head={WORDS[question.by]} caption={`By ${question.by}, ${question.period.name}`}
        name={(row) => this.named(row.session_key ?? row.key, question.by, question.period)} address={address} app={app} />
    );
  }

  private named(key: string, by: By, period: Period): Named {
    switch (by) {
      case "day":
        return dayNumber(key) === null ? { what: visible(key), to: null } : { what: key, to: at("home", { since: key, until: key }) };
      case "model":
        return { what: <Isolated text={key} />, to: this.sessionsOf(period, { model: key }) };
      case "project":
        return { what: <Isolated text={key} />, to: this.sessionsOf(period, { project: key }) };
      case "tool":
        return { what: <Isolated text={key} />, to: key === "no call" ? null : this.sessionsOf(period, { tool: key }) };
      case "session": {
        const found = titles.of(key);
        return { what: <><Isolated text={found?.title || key} />{found && <span class="faint"><Isolated text={found.project} /></span>}</>, to: at("session", { session: key }) };
      }
    }
  }
}

function Sentence({ usage }: { usage: UsageAnswer }) {
  const { tokens: used, cost_usd: cost, unpriced_messages: unpriced } = usage.total;
  const share = cachedShare(used);
  return (
    <>
      <strong>{money(cost)}</strong>{unpriced > 0 && cost !== null ? ` and ${plural(unpriced, "message")} without a price` : ""}, {tokens(allTokens(used)).replace(/([kM])$/, "\u00a0$1")} tokens
      {share !== null && `, ${Math.round(share * 100)}% read from cache`}
    </>
  );
}

/** "claude-sonnet-4-5-20250929" without the day it was made. */
function shortModel(name: string): string {
  return name.replace(/^claude-/, "").replace(/-20\d{6}$/, "");
}

function DayRange({ period, onChoose }: { period: Period; onChoose: (since: string | undefined, until: string | undefined) => void }) {
  const choose = (since: string | null, until: string | null) => onChoose(since || undefined, until || undefined);
  const { since, until } = period;
  return (
    <div class="dayrange">
      <label>From <input type="date" value={since ?? ""} max={until ?? undefined} onChange={(event) => choose(event.currentTarget.value, until)} /></label>
      <label>to <input type="date" value={until ?? ""} min={since ?? undefined} onChange={(event) => choose(since, event.currentTarget.value)} /></label>
    </div>
  );
}

function Nothing({ period, usage, all }: { period: Period; usage: UsageAnswer; all: () => void }) {
  return (
    <Empty>
      <p>{period.span === "all" ? "No session has used any tokens yet." : `${period.name}: nothing was used.`} {plural(usage.files, "file")} looked at.</p>
      {period.span !== "all" && <button type="button" class="button" onClick={all}>Look at all time</button>}
    </Empty>
  );
}

function Footer({ usage, period, by }: { usage: UsageAnswer; period: Period; by: By }) {
  return (
    <footer class="usagefoot">
      <p>
        Prices of {usage.prices.date} ({visible(usage.prices.source)}). Days in {visible(usage.tz === "local" ? zone() : usage.tz)}. {plural(usage.files, "file")}.
        {usage.unpriced_models.length > 0 && <> No price is known for {usage.unpriced_models.map((name, n) => <>{n > 0 && ", "}<Isolated text={name} /></>)}: shown as –, and not in the sums.</>}
        {" "}What a subscription costs is another matter: these are the prices of the API.
      </p>
      <Download place="/api/usage.csv" said={{ by, since: period.since, until: period.until, tz: zone() }}>Download CSV</Download>
    </footer>
  );
}
