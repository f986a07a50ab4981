// The turns at the side, only those that fit drawn; beside them the whole session as a narrow picture.

import { Component } from "preact";
import { Icon } from "./icons";
import type { TurnHead } from "./parts";
import { count, span } from "./text";
import { visible, visibleText } from "./visible";

const ROW = 48;
const EDGE = 12; // above the first row and below the last

interface RailOptions {
  heads: TurnHead[];
  current: number;
  onPick: (turn: number) => void;
}

export class Rail extends Component<RailOptions, { from: number; height: number }> {
  override state = { from: 0, height: 900 };
  private element: HTMLElement | null = null;
  private shownFor = -1;

  override componentDidMount(): void {
    this.look();
    addEventListener("resize", this.look);
  }

  override componentWillUnmount(): void {
    removeEventListener("resize", this.look);
  }

  override componentDidUpdate(): void {
    const { element } = this;
    const { current, heads } = this.props;
    if (!element || current === this.shownFor) return;
    this.shownFor = current;
    const at = heads.findIndex((head) => head.n === current);
    if (at < 0) return;
    const top = at * ROW + EDGE;
    // With its neighbour, so that one sees where it goes on.
    if (top - ROW < element.scrollTop) element.scrollTop = top - ROW;
    else if (top + 2 * ROW > element.scrollTop + element.clientHeight) element.scrollTop = top + 2 * ROW - element.clientHeight;
  }

  private readonly look = () => {
    if (!this.element) return;
    this.setState({ from: Math.max(0, Math.floor(this.element.scrollTop / ROW) - 4), height: this.element.clientHeight || 900 });
  };

  render({ heads, current, onPick }: RailOptions) {
    const { from, height } = this.state;
    const shown = heads.slice(from, from + Math.ceil(height / ROW) + 9);
    return (
      <nav class="rail" aria-label="Turns" ref={(element) => { this.element = element; }} onScroll={this.look} tabIndex={-1}>
        <ol style={{ height: `${heads.length * ROW}px`, paddingTop: `${from * ROW}px` }}>
          {shown.map((head) => (
            <li key={head.n}>
              <a href={`#t${head.n}`} class={`railrow${head.n === current ? " is-current" : ""}${head.is_off ? " is-off" : ""}`} aria-current={head.n === current ? "true" : undefined} title={visibleText(head.title)} onClick={(event) => { event.preventDefault(); onPick(head.n); }}>
                <span class="railnumber">{head.n}</span>
                <span class="railtitle"><bdi>{head.title ? visible(head.title) : "(no words)"}</bdi></span>
                <span class="railfacts">
                  {typeof head.work.duration_ms === "number" && <span>{span(head.work.duration_ms)}</span>}
                  {head.work.failed ? <span class="err"><Icon name="failed" />{count(head.work.failed)} failed</span> : null}
                </span>
              </a>
            </li>
          ))}
        </ol>
      </nav>
    );
  }
}
