// Every problem of one session: where it is, what it means, and what would be done about it.

import { Component } from "preact";
import { Icon } from "../../icons";
import { bytes, count } from "../../text";
import { visible } from "../../visible";
import { at } from "../address";
import { Answer } from "../answer";
import type { Check } from "../api";
import { Failed, Link, Skeleton } from "../pieces";
import type { AppHost } from "../view";

const SHOWN = 50;
const RANK: Record<string, number> = { error: 0, warning: 1, info: 2 };

interface ProblemsOptions {
  session: string;
  /** The command that would mend it. */
  needs?: string | null;
  /** Whether only the problems are wanted, and nothing to do about them. */
  isPlain?: boolean;
  app: AppHost;
}

export class Problems extends Component<ProblemsOptions, { tick: number; isAll: boolean }> {
  override state = { tick: 0, isAll: false };
  private readonly answer = new Answer<Check, string>(() => this.setState(({ tick }) => ({ tick: tick + 1 })));

  override componentDidMount(): void {
    this.answer.want(`/api/sessions/${encodeURIComponent(this.props.session)}/check`, {}, this.props.session);
  }

  override componentWillUnmount(): void {
    this.answer.end();
  }

  render({ session, needs, isPlain, app }: ProblemsOptions) {
    const { value, error, waiting } = this.answer;
    if (error) return <Failed error={error} again={() => this.answer.again()} />;
    if (!value) return waiting ? <p class="indexing">{waiting}</p> : <Skeleton rows={3} />;
    const shown = this.state.isAll ? value.problems : value.problems.slice(0, SHOWN);
    const canMend = value.problems.some((one) => one.repair !== null);
    return (
      <>
        <p>{value.resumable ? "The session still resumes." : "The client does not resume this session."}{worst(value)}</p>
        <ol class="problems">
          {shown.map((one, n) => (
            <li key={n} class={`problem is-${one.severity}`}>
              <Icon name={one.severity === "info" ? "info" : "warning"} label={one.severity} />
              <span class="problemwhere">{typeof one.line === "number" ? `line ${count(one.line)}` : "the whole file"}{typeof one.offset === "number" && <span class="faint"> byte {count(one.offset)}{typeof one.length === "number" && `, ${bytes(one.length)}`}</span>}</span>
              <span class="problemwhat">{visible(one.detail)}{one.repair ? <span class="faint">; repair {visible(one.repair)}</span> : null}</span>
            </li>
          ))}
        </ol>
        {value.problems.length > SHOWN && <button type="button" class="more" aria-expanded={this.state.isAll} onClick={() => this.setState({ isAll: !this.state.isAll })}>{this.state.isAll ? `Show the first ${SHOWN}` : `Show all ${count(value.problems.length)} problems`}</button>}
        <div class="acts">
          {canMend && !isPlain && <Link class="button is-main" to={at("doctor", { session, edit: "repair" })} app={app}>Preview repair</Link>}
          <Link class="button" to={at("session", { session })} app={app}>Read the session</Link>
          {needs ? <code class="faint">{visible(needs)}</code> : null}
        </div>
      </>
    );
  }
}

function worst({ problems }: Check): string {
  const found = [...problems].sort((a, b) => (RANK[a.severity] ?? 3) - (RANK[b.severity] ?? 3))[0];
  return found?.severity === "error" ? " Some of its lines cannot be read." : "";
}
