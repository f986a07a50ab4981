// A long list of rows of one height in a box that scrolls by itself, of which only those near are drawn.

import { Component, type ComponentChildren, type HTMLAttributes } from "preact";

const AROUND = 8; // rows drawn before and after those that are seen
const MOST = 60;

export interface RolledOptions {
  count: number;
  /** The height of a row in pixels. */
  row: number;
  draw: (from: number, to: number) => ComponentChildren;
  class?: string;
  /** A row that has to be seen, as when the keys moved there. */
  shown?: number | null;
  /** What the element is for those who do not see it. */
  said?: HTMLAttributes<HTMLDivElement>;
}

/** The element scrolls by itself; its height is for the style sheet. */
export class Rolled extends Component<RolledOptions, { from: number; to: number }> {
  override state = { from: 0, to: MOST };
  private element: HTMLElement | null = null;
  private watcher: ResizeObserver | null = null;
  private shownBefore: number | null = null;

  override componentDidMount(): void {
    this.watcher = new ResizeObserver(this.look);
    if (this.element) this.watcher.observe(this.element);
    this.show();
    this.look();
  }

  override componentDidUpdate(before: RolledOptions): void {
    if (before.count !== this.props.count || before.row !== this.props.row) this.look();
    this.show();
  }

  override componentWillUnmount(): void {
    this.watcher?.disconnect();
  }

  private show(): void {
    const { element } = this;
    const { shown = null, row } = this.props;
    if (!element || shown === this.shownBefore) return;
    this.shownBefore = shown;
    if (shown === null) return;
    const top = shown * row;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + row > element.scrollTop + element.clientHeight) element.scrollTop = top + row - element.clientHeight;
    this.look();
  }

  private readonly look = () => {
    const { element } = this;
    if (!element) return;
    const { row, count } = this.props;
    const first = Math.floor(element.scrollTop / row);
    const seen = Math.ceil((element.clientHeight || 600) / row) + 1;
    const around = Math.max(0, Math.min(AROUND, Math.floor((MOST - seen) / 2)));
    const from = Math.max(0, Math.min(first, count) - around);
    const to = Math.min(count, first + seen + around);
    if (from !== this.state.from || to !== this.state.to) this.setState({ from, to });
  };

  render({ count, row, draw, class: name, said }: RolledOptions, { from, to }: { from: number; to: number }) {
    const last = Math.min(to, count);
    return (
      <div class={`rolled scroll ${name ?? ""}`} ref={(element) => { this.element = element; }} onScroll={this.look} {...said}>
        <div role="presentation" style={{ height: `${count * row}px`, paddingTop: `${Math.min(from, count) * row}px` }}>
          {draw(Math.min(from, last), last)}
        </div>
      </div>
    );
  }
}
