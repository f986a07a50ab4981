// What can be said of an edit.

import type { ComponentChildren } from "preact";
import { Icon } from "../../icons";
import type { EditKind, Wishes } from "./wishes";

interface FormOptions {
  kind: EditKind;
  wishes: Wishes;
  isOff: boolean;
  /** Typing leaves no step for Back, choosing does. */
  onWish: (changes: Partial<Wishes>, isTyped: boolean) => void;
}

export function Form({ kind, wishes, isOff, onWish }: FormOptions) {
  const typed = (name: "tools" | "older" | "larger" | "turns", label: string, hint: string, isNumber: boolean) => (
    <label class={isNumber ? "wish is-number" : "wish"}>
      <span>{label}</span>
      <input type="text" inputMode={isNumber ? "numeric" : "text"} value={wishes[name]} disabled={isOff} autocomplete="off" spellcheck={false} onInput={(event) => onWish({ [name]: event.currentTarget.value }, true)} />
      <span class="faint">{hint}</span>
    </label>
  );
  const checked = (name: "results" | "thinking" | "empty", label: string, hint?: string) => (
    <label class="check"><input type="checkbox" checked={wishes[name]} disabled={isOff} onChange={(event) => onWish({ [name]: event.currentTarget.checked }, false)} /><span>{label}{hint && <span class="faint"> {hint}</span>}</span></label>
  );
  return (
    <form class="editform" onSubmit={(event) => event.preventDefault()}>
      {kind === "trim" && (
        <Group title="What is taken out">
          {checked("results", "Only what calls gave back.", "A short note takes its place.")}
          {typed("tools", "Tools", "Read, Grep; * stands for anything. Empty: all of them.", false)}
          {typed("larger", "Larger than", "tokens", true)}
          {typed("older", "Older than the last", "turns", true)}
          {typed("turns", "Keep only the last", "turns, with their words", true)}
        </Group>
      )}
      {kind === "redact" && (
        <Group title="What is a secret">
          <p class="faint">Keys, tokens and passwords of known kinds are found without a word.</p>
          <label class="wish">
            <span>What else</span>
            <textarea rows={4} value={wishes.patterns} disabled={isOff} autocomplete="off" spellcheck={false} onInput={(event) => onWish({ patterns: event.currentTarget.value }, true)} />
            <span class="faint">A regular expression to a line. It stays out of the address and the history of the browser.</span>
          </label>
        </Group>
      )}
      <Group title={kind === "repair" ? "What is mended" : "Thinking"}>
        {kind === "repair" && checked("empty", "Drop thinking without words too.")}
        {checked("thinking", "Keep thinking that comes after a change.", "Old clients and the API may refuse it.")}
      </Group>
      <Group title="Where to">
        <label class="check"><input type="radio" name="place" checked={!wishes.place} disabled={isOff} onChange={() => onWish({ place: false }, false)} /><span>A new session. <span class="faint">This one stays as it is.</span></span></label>
        <label class="check"><input type="radio" name="place" checked={wishes.place} disabled={isOff} onChange={() => onWish({ place: true }, false)} /><span>This session itself.</span></label>
        {wishes.place && <p class="notice is-warning"><Icon name="warning" /><span class="noticetext">Its file is replaced. The journal keeps the file as it is now, and Undo puts it back.{kind === "redact" && " Until the journal is emptied, that copy holds the secrets too."}</span></p>}
      </Group>
    </form>
  );
}

function Group({ title, children }: { title: string; children: ComponentChildren }) {
  return <fieldset><legend>{title}</legend>{children}</fieldset>;
}
