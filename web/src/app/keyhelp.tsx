// What the keys do, by view; and the two choices that are remembered: colours, and whether single keys work.

import { Component } from "preact";
import type { Theme } from "../bar";
import { Icon } from "../icons";
import type { ViewName } from "./address";
import { THEMES } from "./theme";

type Keys = [string, string][];

const EVERYWHERE: Keys = [
  ["/", "search"],
  ["Ctrl K", "go to anything"],
  ["g h", "sessions"],
  ["g s", "search"],
  ["g u", "usage"],
  ["g f", "files"],
  ["g d", "doctor"],
  ["Esc", "close, then back"],
  ["?", "this help"],
];

const LIST: Keys = [["j  k", "next, previous row"], ["Enter", "open"]];

const OF: Record<ViewName, [string, Keys]> = {
  home: ["Sessions", [...LIST, ["o", "show or fold sub-agents"]]],
  search: ["Search", [["↓  ↑", "next, previous hit, from the field"], ["j  k", "the same, outside it"], ["Enter", "open the hit"], ["o", "all hits of this session"]]],
  usage: ["Usage", LIST],
  files: ["Files", LIST],
  doctor: ["Doctor", LIST],
  session: ["A session", [
    ["j  k", "next, previous item"],
    ["J  K", "next, previous prompt"],
    ["/  Ctrl F", "find in the session"],
    ["n  N", "next, previous hit"],
    ["e  E", "next, previous failure"],
    ["[  ]", "previous, next session"],
    ["Enter", "open"],
    ["o", "open or fold"],
    ["1 – 4", "prompts · answers · call lines · everything"],
    ["t", "thinking"],
    ["b", "branch"],
    ["f", "follow what is being written"],
    ["y", "copy a link to this place"],
    ["r", "copy the line that resumes it"],
    ["x", "export"],
  ]],
};

interface HelpOptions {
  view: ViewName;
  areKeysOn: boolean;
  theme: Theme;
  version: string;
  onKeys: (on: boolean) => void;
  onTheme: (theme: Theme) => void;
  onClose: () => void;
}

export class KeyHelp extends Component<HelpOptions> {
  private dialog: HTMLDialogElement | null = null;

  override componentDidMount(): void {
    this.dialog?.showModal();
  }

  render({ view, areKeysOn, theme, version, onKeys, onTheme, onClose }: HelpOptions) {
    const [name, own] = OF[view];
    return (
      <dialog class="help keyhelp" aria-labelledby="help-title" ref={(element) => { this.dialog = element; }} onClose={onClose} onClick={(event) => { if (event.target === this.dialog) this.dialog?.close(); }}>
        <div class="helpbody">
          <div class="helphead"><h2 id="help-title">Keys and colours</h2><button type="button" aria-label="Close" onClick={() => this.dialog?.close()}><Icon name="close" /></button></div>
          <div class="helpcolumns">
            <Table name={name} keys={own} />
            <Table name="Everywhere" keys={EVERYWHERE} />
          </div>
          <label class="keyswitch"><input type="checkbox" checked={areKeysOn} onChange={(event) => onKeys(event.currentTarget.checked)} /> Single keys</label>
          <fieldset class="themes">
            <legend>Colours</legend>
            {THEMES.map(([one, word]) => <label><input type="radio" name="theme" checked={theme === one} onChange={() => onTheme(one)} /> {word}</label>)}
          </fieldset>
          <p class="faint">{version && `clew ${version}. `}Everything here stays on this machine. What sessions say is shown as it was typed, never run.</p>
        </div>
      </dialog>
    );
  }
}

function Table({ name, keys }: { name: string; keys: Keys }) {
  return (
    <section>
      <h3>{name}</h3>
      <dl>{keys.map(([key, what]) => <div><dt>{key.split(/ {2}/).map((one) => <Pressed keys={one} />)}</dt><dd>{what}</dd></div>)}</dl>
    </section>
  );
}

/** "g h" is two presses, one after the other; "Ctrl K" one of two keys. */
function Pressed({ keys }: { keys: string }) {
  return keys === "1 – 4" ? <kbd>{keys}</kbd> : <>{keys.split(" ").map((one) => <kbd>{one}</kbd>)}</>;
}
