// Who wrote each line of a file: the session, the turn and the words that asked for it. What nobody knows is said.

import { Component } from "preact";
import { count, plural } from "../../text";
import { visible, visibleText } from "../../visible";
import { at } from "../address";
import { Answer } from "../answer";
import type { Blame } from "../api";
import { Failed, Link, Skeleton } from "../pieces";
import type { AppHost } from "../view";
import { Rolled } from "../rolled";

type Author = NonNullable<Blame["lines"][number]>;

const ROW = 20;
const LONGEST = 2000; // characters of a line that are drawn

export class BlameView extends Component<{ path: string; app: AppHost }, { tick: number }> {
  override state = { tick: 0 };
  private readonly answer = new Answer<Blame, string>(() => this.setState(({ tick }) => ({ tick: tick + 1 })), true);

  override componentDidMount(): void {
    this.want();
  }

  override componentDidUpdate(): void {
    this.want();
  }

  override componentWillUnmount(): void {
    this.answer.end();
  }

  private want(): void {
    this.answer.want("/api/blame", { path: this.props.path }, this.props.path);
  }

  render({ path, app }: { path: string; app: AppHost }) {
    const { value, question, error, waiting } = this.answer;
    if (error) return <Failed error={error} again={() => this.answer.again()} />;
    if (!value || question !== path) return waiting ? <p class="indexing" role="status">{waiting}</p> : <Skeleton rows={6} />;
    const { lines, text } = value;
    const unknown = lines.filter((line) => line === null).length;
    const wide = String(lines.length).length;
    if (lines.length === 0) return <p class="faint">The file is empty.</p>;
    return (
      <div class="showing">
        <p class="faint smallwords">
          {value.of === "disk" ? "The file as it is on disk now." : `The file as sessions last told it${value.why ? `: ${value.why}` : ""}.`}{" "}
          {unknown > 0 ? `No session tells who wrote ${count(unknown)} of ${plural(lines.length, "line")}.` : `All ${plural(lines.length, "line")} are told.`}
        </p>
        {value.notes.map((note) => <p key={note} class="smallwords warn">{visible(note)}</p>)}
        <Rolled class="blame" count={lines.length} row={ROW} said={{ role: "group", tabIndex: 0, "aria-label": `Who wrote ${visibleText(path)}` }}
          draw={(from, to) => text.slice(from, to).map((line, n) => {
            const here = from + n;
            const author = lines[here] ?? null;
            const isFirst = n === 0 || !isSame(author, lines[here - 1] ?? null);
            return (
              <div key={here} class={isFirst ? "blameline is-first" : "blameline"}>
                <span class="blamewho">{isFirst && (author ? <Who author={author} keyOf={value.keys} app={app} /> : <span class="faint">not told</span>)}</span>
                <span class="ln" aria-hidden="true">{String(here + 1).padStart(wide)}</span>
                <code>{visible(line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line)}</code>
              </div>
            );
          })} />
      </div>
    );
  }
}

function isSame(a: Author | null, b: Author | null): boolean {
  return a?.session === b?.session && a?.turn === b?.turn;
}

function Who({ author, keyOf, app }: { author: Author; keyOf: Blame["keys"]; app: AppHost }) {
  const key = keyOf[author.session] ?? author.session;
  const words = author.prompt || "(no words)";
  return (
    <Link class="blamelink" to={at("session", { session: key }, `t${author.turn}`)} app={app} title={visibleText(`${author.session} turn ${author.turn}\n${words}`)}>
      <span class="blameturn">turn {author.turn}</span> <bdi>{visible(words.slice(0, 120))}</bdi>
    </Link>
  );
}
