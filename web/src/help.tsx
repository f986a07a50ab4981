// What the keys do.

import { Component } from "preact";
import { Icon } from "./icons";

const KEYS: [string, string][] = [
  ["/  Ctrl F", "search in the whole session"],
  ["n  N", "next, previous hit"],
  ["j  k", "next, previous item"],
  ["J  K", "next, previous prompt"],
  ["e  E", "next, previous failure"],
  ["Enter", "open"],
  ["o", "open or fold"],
  ["1 – 4", "prompts · answers · call lines · everything"],
  ["t", "thinking"],
  ["y", "copy a link to this place"],
  ["?", "this help"],
  ["Esc", "close"],
];

export class Help extends Component<{ areKeysOn: boolean; onKeys: (on: boolean) => void; onClose: () => void }> {
  private dialog: HTMLDialogElement | null = null;

  override componentDidMount(): void {
    this.dialog?.showModal();
  }

  render({ areKeysOn, onKeys, onClose }: { areKeysOn: boolean; onKeys: (on: boolean) => void; onClose: () => void }) {
    return (
      <dialog class="help" aria-labelledby="help-title" ref={(element) => { this.dialog = element; }} onClose={onClose} onClick={(event) => { if (event.target === this.dialog) this.dialog?.close(); }}>
        <div class="helpbody">
          <div class="helphead"><h2 id="help-title">Keys</h2><button type="button" aria-label="Close" onClick={() => this.dialog?.close()}><Icon name="close" /></button></div>
          <dl>{KEYS.map(([key, what]) => <div><dt>{key.split("  ").map((one) => <kbd>{one}</kbd>)}</dt><dd>{what}</dd></div>)}</dl>
          <label class="keyswitch"><input type="checkbox" checked={areKeysOn} onChange={(event) => onKeys(event.currentTarget.checked)} /> Single keys</label>
          <p class="faint">This page asks nothing of the network. What you read in it is shown as it was typed, never run.</p>
        </div>
      </dialog>
    );
  }
}
