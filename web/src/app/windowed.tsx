// A long list in the page's own scroll, of which only what is near the screen is drawn.

import { Component, type ComponentChildren } from "preact";

export const MOST = 60;

export interface WindowedOptions<T> {
  items: readonly T[];
  /** In pixels, as the style has it. */
  heightOf: (item: T) => number;
  keyOf: (item: T) => string;
  draw: (item: T, at: number) => ComponentChildren;
  /** Pixels below for what is known to be there but was not asked for yet. */
  rest?: number;
  /** Is told which items are drawn, up to but without the last, and how many pixels of what was not asked for are on the screen. */
  onRange?: (from: number, to: number, beyond: number) => void;
  label: string;
  class: string;
  /** Is given the list while it is there, to scroll it. */
  handle?: (list: Windowed<T> | null) => void;
}

export class Windowed<T> extends Component<WindowedOptions<T>, { from: number; to: number }> {
  override state = { from: 0, to: 24 };
  private element: HTMLElement | null = null;
  private tops: Float64Array = new Float64Array(1);
  private of: readonly T[] | null = null;
  private isWaiting = false;

  override componentDidMount(): void {
    addEventListener("scroll", this.scrolled, { passive: true });
    addEventListener("resize", this.resized);
    this.props.handle?.(this);
    this.look();
  }

  override componentDidUpdate(): void {
    this.look();
  }

  override componentWillUnmount(): void {
    this.props.handle?.(null);
    removeEventListener("scroll", this.scrolled);
    removeEventListener("resize", this.resized);
  }

  /** Where an item begins, in pixels below the top of the list. */
  topOf(at: number): number {
    this.measure();
    return this.tops[Math.max(0, Math.min(at, this.tops.length - 1))] ?? 0;
  }

  /** Scroll as little as is needed to have an item on the screen, with room above and below. */
  bring(at: number, { above = 8, below = 8 } = {}): void {
    if (!this.element) return;
    const start = this.element.getBoundingClientRect().top;
    const [top, bottom] = [start + this.topOf(at), start + this.topOf(at + 1)];
    if (top < above) scrollBy({ top: top - above, behavior: "instant" });
    else if (bottom > innerHeight - below) scrollBy({ top: bottom - innerHeight + below, behavior: "instant" });
    this.look();
  }

  /** The first item of which all can be seen. */
  firstSeen(below: number): number {
    if (!this.element) return 0;
    return this.at(below - this.element.getBoundingClientRect().top + 1) + 1;
  }

  private measure(): void {
    const { items, heightOf } = this.props;
    if (this.of === items && this.tops.length === items.length + 1) return;
    this.of = items;
    this.tops = new Float64Array(items.length + 1);
    let top = 0;
    items.forEach((item, n) => {
      this.tops[n] = top;
      top += heightOf(item);
    });
    this.tops[items.length] = top;
  }

  /** The item at so many pixels below the top; one after the last if there are none there. */
  private at(pixels: number): number {
    let [low, high] = [0, this.tops.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.tops[middle] as number) <= pixels) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  private readonly scrolled = (): void => {
    if (this.isWaiting) return;
    this.isWaiting = true;
    requestAnimationFrame(() => {
      this.isWaiting = false;
      this.look();
    });
  };

  private readonly resized = (): void => {
    this.of = null; // the heights may be others at another width
    this.forceUpdate();
  };

  private look(): void {
    if (!this.element) return;
    this.measure();
    const top = -this.element.getBoundingClientRect().top;
    const [first, last] = [this.at(top), this.at(top + innerHeight) + 1];
    const spare = Math.max(0, Math.min(12, Math.floor((MOST - (last - first)) / 2)));
    const from = Math.max(0, first - spare);
    const to = Math.min(this.props.items.length, from + MOST, last + spare);
    if (from !== this.state.from || to !== this.state.to) this.setState({ from, to });
    this.props.onRange?.(from, to, Math.max(0, top + innerHeight - (this.tops[this.props.items.length] ?? 0)));
  }

  render({ items, draw, keyOf, rest = 0, label, class: name }: WindowedOptions<T>, { from, to }: { from: number; to: number }) {
    this.measure();
    const height = (this.tops[items.length] ?? 0) + rest;
    return (
      <ul class={name} aria-label={label} ref={(element) => { this.element = element; }} style={{ height: `${height}px`, paddingTop: `${this.topOf(from)}px` }}>
        {items.slice(from, to).map((item, n) => <li key={keyOf(item)} class="windowedrow" style={{ height: `${(this.tops[from + n + 1] as number) - (this.tops[from + n] as number)}px` }} aria-setsize={items.length} aria-posinset={from + n + 1}>{draw(item, from + n)}</li>)}
      </ul>
    );
  }
}
