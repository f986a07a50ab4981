// A field whose text is part of the address: told as one types, at once or when the keys pause.

import { Component } from "preact";

const MOMENT = 50; // milliseconds
const APART = 60; // between two that are told at once: a browser takes 200 addresses in ten seconds

interface TypedOptions {
  /** What the address says. */
  value: string;
  label: string;
  placeholder: string;
  class: string;
  /** How long nothing is typed before it is told, in milliseconds; 0 for at once. */
  pause?: number;
  onTyped: (value: string) => void;
  onKey?: (event: KeyboardEvent) => void;
  /** The element that the field moves about in, and the one it is at. */
  controls?: string;
  active?: string | undefined;
  /** Is given the field while it is there. */
  handle?: (field: TypedField | null) => void;
}

export class TypedField extends Component<TypedOptions, { text: string }> {
  override state = { text: this.props.value };
  private element: HTMLInputElement | null = null;
  private told = this.props.value;
  private toldAt = -Infinity;
  private timer = 0;

  override componentWillReceiveProps({ value }: TypedOptions): void {
    // What was typed last may come back late; only what somebody else said counts.
    if (value === this.props.value || value === this.told) return;
    clearTimeout(this.timer);
    this.told = value;
    this.setState({ text: value });
  }

  override componentDidMount(): void {
    this.props.handle?.(this);
  }

  override componentWillUnmount(): void {
    this.props.handle?.(null);
    clearTimeout(this.timer);
  }

  focus(): void {
    this.element?.focus({ preventScroll: true });
    this.element?.select();
  }

  private typed(text: string): void {
    this.setState({ text });
    clearTimeout(this.timer);
    const { pause = MOMENT } = this.props;
    const wait = pause === 0 ? this.toldAt + APART - performance.now() : pause;
    if (wait <= 0) this.tell(text);
    else this.timer = setTimeout(() => this.tell(text), wait);
  }

  private tell(text: string): void {
    this.told = text;
    this.toldAt = performance.now();
    this.props.onTyped(text);
  }

  render({ label, placeholder, class: name, onKey, controls, active }: TypedOptions, { text }: { text: string }) {
    return (
      <input
        type="search" class={name} aria-label={label} placeholder={placeholder} spellcheck={false} autocomplete="off" value={text}
        aria-controls={controls} aria-activedescendant={active} ref={(element) => { this.element = element; }}
        onInput={(event) => this.typed(event.currentTarget.value)} onKeyDown={onKey}
      />
    );
  }
}
