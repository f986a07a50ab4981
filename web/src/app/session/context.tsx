// The Context of a session: how the window filled, what is in it now, and what is left out and why.

import { Component, type ComponentChildren } from "preact";
import { Icon } from "../../icons";
import { count, plural, tokens } from "../../text";
import { Isolated, visible } from "../../visible";
import { at } from "../address";
import type { Context, Window } from "../api";
import { ask, Failure } from "../ask";
import { events } from "../events";
import { Failed, Skeleton } from "../pieces";
import type { ViewOptions } from "../view";
import { Chart } from "./chart";
import { bandsOf, colourOf, kindName, kindWhat, type Band } from "./kinds";
import { SentList, sentBlocks, type SentBlock } from "./sent";
import type { Story } from "./story";

type ContextOptions = ViewOptions & { story: Story };

interface ContextState {
  window: Window | null;
  context: Context | null;
  windowError: unknown;
  contextError: unknown;
  /** The kinds and reasons that are open. */
  open: ReadonlySet<string>;
  sent: SentBlock[] | null;
  sentError: unknown;
}

const LINES = 60; // of what is left out, before it is said how many more there are

export class ContextView extends Component<ContextOptions, ContextState> {
  override state: ContextState = { window: null, context: null, windowError: null, contextError: null, open: new Set(), sent: null, sentError: null };
  private unlisten: (() => void) | null = null;
  private again = 0;
  private isOver = false;

  override componentDidMount(): void {
    this.ask();
    this.unlisten = events.listen(({ kind, session }) => {
      if (kind !== "refresh" && session !== this.props.story.key) return;
      clearTimeout(this.again);
      this.again = setTimeout(() => this.ask(), 1500);
    });
    scrollTo({ top: 0, behavior: "instant" });
  }

  override componentWillUnmount(): void {
    this.isOver = true;
    this.unlisten?.();
    clearTimeout(this.again);
  }

  private set(state: Partial<ContextState>): void {
    if (!this.isOver) this.setState(state);
  }

  private ask(): void {
    const { place } = this.props.story;
    ask<Window>(`${place}/window`).then((window) => this.set({ window, windowError: null }), (windowError: unknown) => this.set({ windowError }));
    ask<Context>(`${place}/context`, { messages: 0 }).then((context) => this.set({ context, contextError: null }), (contextError: unknown) => this.set({ contextError }));
  }

  private toggle(name: string): void {
    const open = new Set(this.state.open);
    if (!open.delete(name)) open.add(name);
    this.setState({ open });
    if (name.startsWith("kind ") && !this.state.sent) void this.askSent();
  }

  private async askSent(): Promise<void> {
    try {
      const { messages } = await ask<Context>(`${this.props.story.place}/context`);
      this.set({ sent: sentBlocks(messages ?? []), sentError: null });
    } catch (sentError) {
      this.set({ sentError });
    }
  }

  /** Go to where the reader shows a line or a call. */
  private async goTo(said: { uuid?: string; call?: string }): Promise<void> {
    const { story, app } = this.props;
    try {
      const found = await ask<{ at: string }>(`${story.place}/place`, said);
      app.go(at("session", { session: story.key }, found.at));
    } catch (error) {
      app.say(error instanceof Failure && error.status === 404 ? "The reader does not show that line" : error instanceof Error ? error.message : String(error));
    }
  }

  render({ story, app }: ContextOptions, { window, context, windowError, contextError }: ContextState) {
    const sizes = new Map<string, number>();
    for (const fill of window?.turns ?? []) for (const [kind, size] of Object.entries(fill.by_kind)) sizes.set(kind, (sizes.get(kind) ?? 0) + size);
    const bands = bandsOf(sizes);
    return (
      <div class="context">
        {windowError ? <Failed error={windowError} again={() => this.ask()} /> : !window ? <><p class="contextsum faint">Adding up what each request held …</p><Skeleton rows={4} /></> : window.turns.length === 0 ? (
          <p>No answer in this session tells how much it was sent.</p>
        ) : (
          <>
            <Sum window={window} />
            <Chart window={window} bands={bands} onOpen={(turn) => app.go(at("session", { session: story.key }, `t${turn}`))} />
            {this.kinds(window, bands)}
          </>
        )}
        {contextError ? <Failed error={contextError} again={() => this.ask()} /> : context && <>{this.resumed(context)}{this.leftOut(context)}</>}
      </div>
    );
  }

  private kinds(window: Window, bands: readonly Band[]): ComponentChildren {
    const { open, sent, sentError } = this.state;
    const all = window.table.reduce((sum, row) => sum + row.tokens, 0);
    return (
      <section class="contextpart">
        <h2>In the last request</h2>
        <table class="kinds">
          <thead><tr><th scope="col">Kind</th><th scope="col" class="num">Blocks</th><th scope="col" class="num">≈ Tokens</th><th scope="col" class="num">Share</th></tr></thead>
          <tbody>
            {window.table.map((row) => {
              const name = `kind ${row.kind}`;
              const isOpen = open.has(name);
              return [
                <tr key={row.kind}>
                  <th scope="row">
                    <button type="button" class="kindbutton" aria-expanded={isOpen} onClick={() => this.toggle(name)}>
                      <Icon name="chevron" /><span class={`swatch band-${colourOf(bands, row.kind)}`} aria-hidden="true" /><Isolated text={kindName(row.kind)} />
                    </button>
                  </th>
                  <td class="num">{count(row.blocks)}</td><td class="num">{count(row.tokens)}</td><td class="num">{(row.share * 100).toFixed(1)}%</td>
                </tr>,
                isOpen && (
                  <tr key={name} class="opened"><td colSpan={4}>
                    {kindWhat(row.kind) && <p class="faint">{kindWhat(row.kind)}</p>}
                    {sentError ? <Failed error={sentError} again={() => void this.askSent()} /> : row.kind === "system" || row.kind === "summary" ? null : !sent ? <p class="menunote">Reading what is sent …</p>
                      : <SentList blocks={sent.filter((block) => block.kind === row.kind)} onPlace={(said) => void this.goTo(said)} />}
                  </td></tr>
                ),
              ];
            })}
          </tbody>
          <tfoot><tr><th scope="row">Together</th><td class="num">{count(window.table.reduce((sum, row) => sum + row.blocks, 0))}</td><td class="num">{count(all)}</td><td class="num">100%</td></tr></tfoot>
        </table>
        <p class="faint contextnote">How much it was is measured; the split is {visible(window.split)}.</p>
      </section>
    );
  }

  private resumed(context: Context): ComponentChildren {
    const { refused, model } = context as Context & { refused?: string; model?: string | null };
    return (
      <section class="contextpart">
        <h2>On resume</h2>
        {refused ? <p class="err"><Icon name="failed" /> The client would refuse to resume: {visible(refused)}</p> : (
          <p>The messages that client <Isolated class="mono" text={context.client} /> sends{model ? <> to <Isolated class="mono" text={model} /></> : null} are ≈ {tokens(context.tokens_estimate)} tokens, without what is the client's own.</p>
        )}
        {context.api_problems.length > 0 && (
          <ul class="apiproblems">{context.api_problems.map((one, n) => <li key={n} class="warn"><Icon name="warning" /> <span>{visible(one.message)} <code>{visible(one.code)}</code></span></li>)}</ul>
        )}
      </section>
    );
  }

  private leftOut({ left_out: lines }: Context): ComponentChildren {
    const groups = new Map<string, Context["left_out"]>();
    for (const line of lines) groups.set(line.reason, [...(groups.get(line.reason) ?? []), line]);
    const sorted = [...groups].sort((one, other) => other[1].length - one[1].length);
    return (
      <section class="contextpart">
        <h2>Left out</h2>
        {sorted.length === 0 && <p>Every line of the conversation is sent.</p>}
        {sorted.map(([reason, found]) => {
          const name = `reason ${reason}`;
          const isOpen = this.state.open.has(name);
          return (
            <div key={reason} class="leftout">
              <button type="button" class="kindbutton" aria-expanded={isOpen} onClick={() => this.toggle(name)}>
                <Icon name="chevron" /><span>{plural(found.length, "line")}: {visible(reason)}</span>
              </button>
              {isOpen && (
                <ul class="sent">
                  {found.slice(0, LINES).map((line, n) => (
                    <li key={n}>
                      <span class="sentsize">{line.line ? `line ${count(line.line)}` : ""}</span>
                      {line.uuid
                        ? <button type="button" class="sentwords" onClick={() => void this.goTo({ uuid: line.uuid as string })}><Isolated text={line.type ?? "a line"} /></button>
                        : <span class="sentwords"><Isolated text={line.type ?? "a line"} /></span>}
                    </li>
                  ))}
                  {found.length > LINES && <li class="faint">{count(found.length - LINES)} more</li>}
                </ul>
              )}
            </div>
          );
        })}
      </section>
    );
  }
}

function Sum({ window }: { window: Window }) {
  const last = [...window.turns].reverse().find((fill) => fill.tokens !== null);
  const most = window.turns.reduce((best, fill) => Math.max(best, fill.tokens ?? 0), 0);
  if (!last) return <p class="contextsum">No answer tells how much it was sent; all figures are ≈.</p>;
  return (
    <p class="contextsum">
      The last request held <strong>{tokens(last.tokens ?? 0)} tokens</strong> (turn {last.turn}, measured)
      {most > (last.tokens ?? 0) ? <>; at most it was {tokens(most)}</> : null}
      {window.compactions.length > 0 ? <>; {plural(window.compactions.length, "compaction")}</> : null}.
    </p>
  );
}
