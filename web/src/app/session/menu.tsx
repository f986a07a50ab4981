// A button that opens a list of things to do. It closes when one is chosen, on Esc, and when somebody goes elsewhere.

import { Component, type ComponentChildren } from "preact";
import { Icon, type IconName } from "../../icons";
import type { AppHost } from "../view";

interface MenuOptions {
  app: AppHost;
  name: string;
  icon: IconName;
  /** Whether the name is seen where there is room. */
  isNamed?: boolean;
  title?: string;
  class?: string;
  /** Is handed the menu, to open it by a key. A ref of a component is a mere option here. */
  self?: (menu: Menu | null) => void;
  children: ComponentChildren;
}

export class Menu extends Component<MenuOptions, { isOpen: boolean }> {
  override state = { isOpen: false };
  private root: HTMLElement | null = null;
  private end: (() => void) | null = null;

  override componentDidMount(): void {
    this.props.self?.(this);
  }

  override componentWillUnmount(): void {
    this.end?.();
    this.props.self?.(null);
  }

  toggle(open = !this.state.isOpen): void {
    if (open === this.state.isOpen) return;
    this.end?.();
    this.end = null;
    if (open) {
      const outside = (event: Event) => {
        if (!(event.target instanceof Node && this.root?.contains(event.target))) this.toggle(false);
      };
      const unkey = this.props.app.onKey((key) => {
        if (key !== "Escape") return false;
        this.toggle(false);
        this.root?.querySelector("button")?.focus();
        return true;
      });
      addEventListener("pointerdown", outside);
      addEventListener("focusin", outside);
      this.end = () => {
        unkey();
        removeEventListener("pointerdown", outside);
        removeEventListener("focusin", outside);
      };
    }
    this.setState({ isOpen: open }, () => {
      if (open) this.items()[0]?.focus({ preventScroll: true });
    });
  }

  private items(): HTMLElement[] {
    return [...(this.root?.querySelectorAll<HTMLElement>(".menubody a, .menubody button") ?? [])];
  }

  private pressed(event: KeyboardEvent): void {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const items = this.items();
    const now = items.indexOf(document.activeElement as HTMLElement);
    const next = items[(now + (event.key === "ArrowDown" ? 1 : -1) + items.length) % items.length];
    event.preventDefault();
    next?.focus();
  }

  render({ name, icon, isNamed = false, title, class: more = "", children }: MenuOptions, { isOpen }: { isOpen: boolean }) {
    return (
      <div class={`menu ${more}`} ref={(element) => { this.root = element; }} onKeyDown={(event) => isOpen && this.pressed(event)}>
        <button type="button" class="menubutton" aria-expanded={isOpen} aria-label={name} title={title ?? name} onClick={() => this.toggle()}>
          <Icon name={icon} />{isNamed && <span class="wide">{name}</span>}
        </button>
        {isOpen && (
          <div class="menubody" onClick={(event) => { if ((event.target as Element).closest("a, button.menurow")) this.toggle(false); }}>{children}</div>
        )}
      </div>
    );
  }
}
