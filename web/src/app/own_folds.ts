// The folds of a view that shows code and diffs outside of a session.

import type { Folds } from "../folds";

export class OwnFolds implements Folds {
  readonly level = 4;
  readonly thinking = false;
  readonly isPrint = false;
  private readonly turned = new Map<string, boolean>();

  constructor(private readonly changed: () => void) {}

  isOpen(key: string, byDefault: boolean): boolean {
    return this.turned.get(key) ?? byDefault;
  }

  toggle(key: string, byDefault: boolean, _pressed: Element): void {
    this.turned.set(key, !this.isOpen(key, byDefault));
    this.changed();
  }
}
