// The line that narrows the list. Every choice is in the address. A narrow screen shows it when asked to.

import { Component } from "preact";
import { Icon } from "../../icons";
import { count } from "../../text";
import { visibleText } from "../../visible";
import { saying, type Address } from "../address";
import { shortNames } from "../names";
import { isOwnPeriod, PERIODS, periodWords } from "../periods";
import { TypedField } from "../typed";
import type { AppHost } from "../view";
import { NARROWING, type Facet, type Facets, type Narrowing, type Page } from "./asked";

const ORDERS: [string, string][] = [
  ["", "Newest first"], ["changed-", "Oldest first"], ["cost", "Highest cost"], ["turns", "Most turns"], ["tokens", "Most tokens"], ["size", "Largest"], ["title", "Title"],
];

interface FilterOptions {
  address: Address;
  app: AppHost;
  facets: Facets | null;
  page: Page | null;
}

export class Filters extends Component<FilterOptions, { isOpen: boolean }> {
  override state = { isOpen: false };

  render({ address, app, facets, page }: FilterOptions, { isOpen }: { isOpen: boolean }) {
    const { said } = address;
    const many = NARROWING.filter((name) => name !== "title" && said[name]).length;
    const choose = (changes: Record<string, string | undefined>) => app.go(saying(address, changes));
    const toggle = (name: Narrowing, word: string, many?: number) => (
      <button type="button" class="toggle" aria-pressed={Boolean(said[name])} onClick={() => choose({ [name]: said[name] ? undefined : "1" })}>
        {name === "live" && <span class="livedot" aria-hidden="true" />}{name === "failed" && <Icon name="failed" />}{name === "damaged" && <Icon name="warning" />}
        {word}{many ? <span class="faint">{count(many)}</span> : null}
      </button>
    );
    return (
      <div class={isOpen ? "filters is-open" : "filters"} role="group" aria-label="Narrow the list">
        <TypedField class="field filtertitle" label="A part of the title" placeholder="Filter by title" value={said["title"] ?? ""} onTyped={(title) => app.go(saying(address, { title }), { replace: true })} />
        <button type="button" class="toggle filteropen" aria-expanded={isOpen} onClick={() => this.setState({ isOpen: !isOpen })}>Filters{many > 0 && <span class="faint">{many}</span>}</button>
        <Choice label="Project" any="All projects" chosen={said["project"]} facets={facets?.project} arePaths onChoose={(value) => choose({ project: value })} />
        <Choice label="Branch" any="All branches" chosen={said["branch"]} facets={facets?.branch} onChoose={(value) => choose({ branch: value })} />
        <Choice label="Model" any="All models" chosen={said["model"]} facets={facets?.model} onChoose={(value) => choose({ model: value })} />
        <Time since={said["since"]} until={said["until"]} onChoose={(since) => choose({ since, until: undefined })} />
        {toggle("live", "Live", page?.total.live)}
        {toggle("failed", "Failed")}
        {toggle("damaged", "Damaged", page?.total.damaged)}
        <select class="field filtersort" aria-label="Order" value={`${said["sort"] ?? ""}${said["reverse"] ? "-" : ""}`} onChange={(event) => {
          const { value } = event.currentTarget;
          choose({ sort: value.replace("-", ""), reverse: value.endsWith("-") ? "1" : undefined });
        }}>
          {ORDERS.map(([value, word]) => <option value={value}>{word}</option>)}
        </select>
      </div>
    );
  }
}

interface ChoiceOptions {
  label: string;
  any: string;
  chosen: string | undefined;
  facets: Facet[] | undefined;
  arePaths?: boolean;
  onChoose: (value: string) => void;
}

function Choice({ label, any, chosen, facets = [], arePaths, onChoose }: ChoiceOptions) {
  // What was chosen stays a choice, even if nothing fits it.
  const all = chosen && !facets.some(({ value }) => value === chosen) ? [{ value: chosen, sessions: -1 }, ...facets] : facets;
  const names = arePaths ? shortNames(all.map(({ value }) => value)) : null;
  return (
    <select class={chosen ? "field is-chosen" : "field"} aria-label={label} value={chosen ?? ""} onChange={(event) => onChoose(event.currentTarget.value)}>
      <option value="">{any}</option>
      {all.map(({ value, sessions }) => <option value={value}>{visibleText(names?.get(value) ?? value)}{sessions >= 0 && ` (${count(sessions)})`}</option>)}
    </select>
  );
}

function Time({ since, until, onChoose }: { since: string | undefined; until: string | undefined; onChoose: (since: string) => void }) {
  const isOwn = isOwnPeriod(since, until);
  return (
    <select class={since || until ? "field is-chosen" : "field"} aria-label="Time" value={isOwn ? "own" : since ?? ""} onChange={(event) => { if (event.currentTarget.value !== "own") onChoose(event.currentTarget.value); }}>
      <option value="">Any time</option>
      {PERIODS.map(([value, word]) => <option value={value}>{word}</option>)}
      {isOwn && <option value="own">{periodWords(since, until)}</option>}
    </select>
  );
}

const WORDS: Record<Narrowing, (value: string) => string> = {
  title: (value) => `title “${visibleText(value)}”`,
  project: (value) => `project ${visibleText(value)}`,
  branch: (value) => `branch ${visibleText(value)}`,
  model: (value) => `model ${visibleText(value)}`,
  tool: (value) => `tool ${visibleText(value)}`,
  since: (value) => periodWords(value, undefined),
  until: (value) => periodWords(undefined, value),
  live: () => "live",
  failed: () => "with failed calls",
  damaged: () => "damaged",
};

/** What narrows the list, each with a button that takes it away. */
export function Narrowed({ address, app, names }: { address: Address; app: AppHost; names: readonly Narrowing[] }) {
  return (
    <p class="narrowed">
      {names.map((name) => (
        <button type="button" class="toggle" onClick={() => app.go(saying(address, { [name]: undefined }))} aria-label={`Remove: ${WORDS[name](address.said[name] ?? "")}`}>
          {WORDS[name](address.said[name] ?? "")}<Icon name="close" />
        </button>
      ))}
      {names.length > 1 && <button type="button" class="toggle" onClick={() => app.go(saying(address, Object.fromEntries(names.map((name) => [name, undefined]))))}>Remove all</button>}
    </p>
  );
}
