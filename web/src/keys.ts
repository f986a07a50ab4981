// One press, one act. Keys are off while typing, with a modifier held, and when somebody turned them off.

import type { Level } from "./folds";
import type { Reader, Spot } from "./reader";

export interface KeyActs {
  reader: Reader;
  areOn(): boolean;
  openSearch(): void;
  isSearching(): boolean;
  stepSearch(by: 1 | -1): void;
  help(): void;
  say(text: string): void;
  /** Close what is open. */
  close(): void;
  /** Another level or thinking was chosen. */
  chosen?(): void;
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

export function listen(acts: KeyActs): void {
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      acts.close();
      return;
    }
    // The first press finds in all of the session, the second is the browser's own.
    if (event.key === "f" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey) {
      if (acts.isSearching()) return;
      event.preventDefault();
      acts.openSearch();
      return;
    }
    if (isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey || !acts.areOn()) return;
    if (document.querySelector("dialog[open]")) return;
    if (press(event.key, acts, event.target)) event.preventDefault();
  });
}

/** Do what a key stands for; false where it stands for nothing. */
export function press(key: string, acts: KeyActs, target: EventTarget | null): boolean {
  const { reader } = acts;
  switch (key) {
    case "/":
      acts.openSearch();
      return true;
    case "?":
      acts.help();
      return true;
    case "n":
    case "N":
      acts.stepSearch(key === "n" ? 1 : -1);
      return true;
    case "j":
    case "k":
      return go(acts, key === "j" ? 1 : -1, ({ slot, at }) => slot.isShown(at), key === "j" ? "That was the last item" : "That was the first item");
    case "J":
    case "K":
      return go(acts, key === "J" ? 1 : -1, ({ slot, at }) => slot.chunk.marks[at]?.letter === "p", "No more prompts that way");
    case "e":
    case "E":
      return go(acts, key === "e" ? 1 : -1, ({ slot, at }) => slot.chunk.marks[at]?.letter === "x", "No more failures that way");
    case "o":
      return fold(reader);
    case "Enter":
      // On a button or a link the browser's own press is the right one.
      return target instanceof HTMLElement && target.closest("a, button, summary") ? false : fold(reader);
    case "1":
    case "2":
    case "3":
    case "4":
      reader.setLevel(Number(key) as Level);
      acts.chosen?.();
      return true;
    case "t":
      reader.setThinking(!reader.thinking);
      acts.chosen?.();
      return true;
    case "y":
      void copyLink(acts);
      return true;
    default:
      return false;
  }
}

function go(acts: KeyActs, step: 1 | -1, isWanted: (spot: Spot) => boolean, atEnd: string): boolean {
  const { reader } = acts;
  const here = reader.here();
  // Without a cursor the item at the top of the screen is the first to be stepped on.
  const isOn = here !== null && reader.cursor === here.slot.key(here.at);
  reader.stay();
  seek(acts, here, here !== null && !isOn && step > 0, step, isWanted, atEnd);
  return true;
}

function seek(acts: KeyActs, here: Spot | null, isFirst: boolean, step: 1 | -1, isWanted: (spot: Spot) => boolean, atEnd: string): void {
  const { reader } = acts;
  const found = isFirst && here && isWanted(here) ? here : reader.next(here, step, isWanted);
  if (!found) acts.say(atEnd);
  else if (found.slot.chunk.isKnown) reader.goTo(found.slot.key(found.at));
  // What it holds was only guessed: it is fetched, and then looked at again.
  else reader.whenKnown(found.slot, () => seek(acts, here, isFirst, step, isWanted, atEnd));
}

function fold(reader: Reader): boolean {
  const here = reader.here();
  if (!here) return false;
  const button = document.getElementById(here.slot.key(here.at))?.querySelector<HTMLElement>("button[aria-expanded]");
  button?.click();
  return button !== null;
}

async function copyLink(acts: KeyActs): Promise<void> {
  const here = acts.reader.here();
  const key = here ? here.slot.key(here.at) : "top";
  const address = `${location.href.split("#", 1)[0]}#${key}`;
  history.replaceState(null, "", `#${key}`);
  try {
    await navigator.clipboard.writeText(address);
    acts.say("Link copied");
  } catch {
    acts.say("The link is in the address line");
  }
}
