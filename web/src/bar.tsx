// The header that stays: what session this is, how it goes, and what can be done.

import type { PageFacts } from "./data";
import type { Level } from "./folds";
import { Icon } from "./icons";
import type { Search } from "./search";
import { count, money, plural } from "./text";
import { Isolated } from "./visible";
import { wholeCalls, wholeCost } from "./whole";

export type Theme = "auto" | "light" | "dark";

export interface BarOptions {
  facts: PageFacts;
  level: Level;
  theme: Theme;
  turn: number;
  turns: number;
  search: Search;
  isSearching: boolean;
  isComplete: boolean;
  onLevel: (level: Level) => void;
  onTheme: () => void;
  onHelp: () => void;
  onTurns: () => void;
  onSearch: (open: boolean) => void;
}

export const LEVELS: [Level, string, string][] = [
  [1, "Prompts", "Prompts and last answers"],
  [2, "Answers", "All answers"],
  [3, "Calls", "Answers and call lines"],
  [4, "All", "Everything open"],
];

export function Bar(options: BarOptions) {
  const { facts, level, theme, turn, turns } = options;
  const { head } = facts;
  const cost = wholeCost(head);
  const [, failed] = wholeCalls(head);
  return (
    <header class={options.isSearching ? "bar is-searching" : "bar"}>
      <div class="barrow">
        <div class="barname">
          <a class="bartitle" href="#top"><Isolated text={head.title || "Untitled session"} /></a>
          <div class="barfacts">
            {head.project && <span class="barproject"><Isolated text={lastName(head.project)} />{head.branch && <> · <Isolated text={head.branch} /></>}</span>}
            {cost ? <span class="barcost">{money(cost)}</span> : null}
            {failed ? <span class="err"><Icon name="failed" />{count(failed)} failed</span> : null}
            {head.damaged ? <span class="warn"><Icon name="warning" />{plural(head.damaged, "damaged piece")}</span> : null}
            {!options.isComplete && <span>loading …</span>}
          </div>
        </div>
        <div class="levels" role="group" aria-label="How much is shown">
          {LEVELS.map(([n, word, title]) => (
            <button type="button" aria-pressed={level === n} title={`${title} (${n})`} onClick={() => options.onLevel(n)}>{word}</button>
          ))}
        </div>
        <button type="button" class="turnbutton" aria-label={`${turn}/${turns}: list of turns`} onClick={options.onTurns}><Icon name="list" /><span>{turn}/{turns}</span></button>
        <button type="button" class="tool-search" aria-label="Search in this session" title="Search ( / )" onClick={() => options.onSearch(true)}><Icon name="search" /><span class="wide">Search</span></button>
        <button type="button" aria-label={`Colours: ${theme}`} title={`Colours: ${theme}`} onClick={options.onTheme}><Icon name="theme" /></button>
        <button type="button" aria-label="Keys and help" title="Keys ( ? )" onClick={options.onHelp}><Icon name="help" /></button>
      </div>
      {options.isSearching && <SearchRow search={options.search} onClose={() => options.onSearch(false)} />}
    </header>
  );
}

function lastName(path: string): string {
  return path.split(/[\\/]/).filter(Boolean).pop() ?? path;
}

interface SearchRowOptions {
  search: Search;
  onClose: () => void;
  /** Somebody types, or goes from hit to hit; without it that is for the search alone. */
  onType?: (query: string) => void;
  onStep?: (by: 1 | -1) => void;
}

export function SearchRow({ search, onClose, onType, onStep = (by) => search.step(by) }: SearchRowOptions) {
  return (
    <search class="searchrow">
      <Icon name="search" />
      <input
        type="search"
        aria-label="Search in this session"
        placeholder="Search prompts, answers, commands, outputs"
        spellcheck={false}
        autocomplete="off"
        value={search.typed}
        onInput={(event) => {
          search.start(event.currentTarget.value);
          onType?.(event.currentTarget.value);
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter") {
            event.preventDefault();
            onStep(event.shiftKey ? -1 : 1);
          }
        }}
      />
      <output class="found" aria-live="polite">{foundWords(search)}</output>
      <button type="button" aria-label="Previous hit" title="Previous hit (N)" onClick={() => onStep(-1)}><Icon name="up" /></button>
      <button type="button" aria-label="Next hit" title="Next hit (n)" onClick={() => onStep(1)}><Icon name="down" /></button>
      <button type="button" aria-label="Close the search" title="Close (Esc)" onClick={onClose}><Icon name="close" /></button>
    </search>
  );
}

/** "3 of 12", "12 hits", "no hits", and whether it is still looking. */
export function foundWords(search: Search): string {
  if (!search.isActive) return "";
  const total = `${count(search.hits.length)}${search.isFull ? "+" : ""}`;
  const looking = search.isDone ? "" : " …";
  if (search.at >= 0) return `${count(search.at + 1)} of ${total}${looking}`;
  if (search.hits.length === 0) return search.isDone ? "no hits" : "looking …";
  return `${total} ${search.hits.length === 1 ? "hit" : "hits"}${looking}`;
}
