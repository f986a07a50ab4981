// Small things that every view is made of.

import { Component, type ComponentChildren } from "preact";
import { Icon } from "../icons";
import { writeAddress, type Address } from "./address";
import { Failure } from "./ask";
import type { AppHost } from "./view";

interface LinkOptions {
  to: Address;
  app: AppHost;
  class?: string | undefined;
  title?: string | undefined;
  id?: string | undefined;
  current?: boolean | undefined;
  /** Goes there in another way than at once, as when the place is yet to be asked for. */
  onOpen?: (() => void) | undefined;
  children?: ComponentChildren;
}

/** A link inside the app: a real one, which may be opened in a tab of its own. */
export function Link({ to, app, class: name, title, id, current, onOpen, children }: LinkOptions) {
  return (
    <a href={writeAddress(to)} class={name} title={title} id={id} aria-current={current ? "page" : undefined} onClick={(event) => {
      if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
      if (onOpen) onOpen();
      else app.go(to);
    }}>{children}</a>
  );
}

/** What went wrong, what to try, and the detail to copy. */
export function Failed({ error, again, app }: { error: unknown; again?: () => void; app?: AppHost }) {
  const failure = error instanceof Failure ? error : null;
  const message = failure?.message ?? (error instanceof Error ? error.message : String(error));
  const detail = [message, failure?.hint, failure && `${failure.code} ${failure.status}`, location.href, !failure && error instanceof Error && error.stack].filter(Boolean).join("\n");
  return (
    <div class="failed" role="alert">
      <p class="failedline"><Icon name="warning" /><strong>{sentence(message)}</strong></p>
      {failure?.hint && <p>{sentence(failure.hint)}</p>}
      {failure && <p class="faint">{failure.code} · {failure.status || "no answer"}</p>}
      <p class="failedacts">
        {again && <button type="button" class="button" onClick={again}>Try again</button>}
        {app && <button type="button" class="button" onClick={() => app.copy(detail, "Details")}>Copy details</button>}
      </p>
    </div>
  );
}

/** The server's words begin small, as they do in the terminal. */
export function sentence(text: string): string {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(first) ? first : `${first}.`;
}

/** Rows that are not there yet, drawn after a moment so that quick answers do not flash. */
export class Skeleton extends Component<{ rows?: number }, { isShown: boolean }> {
  override state = { isShown: false };
  private timer = 0;

  override componentDidMount(): void {
    this.timer = setTimeout(() => this.setState({ isShown: true }), 150);
  }

  override componentWillUnmount(): void {
    clearTimeout(this.timer);
  }

  render({ rows = 8 }: { rows?: number }, { isShown }: { isShown: boolean }) {
    if (!isShown) return <div class="skeleton" aria-busy="true" />;
    return <div class="skeleton" role="status" aria-busy="true" aria-label="Loading">{Array.from({ length: rows }, (_, n) => <div class="skeletonrow" key={n} />)}</div>;
  }
}

/** One sentence where there is nothing, and what can be done about it. */
export function Empty({ children }: { children: ComponentChildren }) {
  return <div class="empty">{children}</div>;
}

/** A line for the terminal, with a button that copies it. */
export function Command({ line, app }: { line: string; app: AppHost }) {
  return (
    <span class="command">
      <code>{line}</code>
      <button type="button" class="button" aria-label={`Copy: ${line}`} onClick={() => app.copy(line, "Command")}>Copy</button>
    </span>
  );
}
