// What a search can be narrowed to, with how many hits each would leave; every field is on until somebody turns it off.

import { Icon } from "../../icons";
import { count } from "../../text";
import { visibleText } from "../../visible";
import { saying, type Address } from "../address";
import { shortNames } from "../names";
import { isOwnPeriod, PERIODS, periodWords } from "../periods";
import type { AppHost } from "../view";
import type { Counted, Field, Found, Narrowing } from "./finding";

export const FIELDS: [Field, string][] = [
  ["prompt", "Prompts"], ["text", "Answers"], ["thinking", "Thinking"], ["tool_input", "Commands and inputs"], ["tool_result", "Outputs"], ["summary", "Summaries"], ["title", "Titles"],
];

const SHOWN = 8;

/** The fields that are searched; all of them unless the address names some. */
export function fieldsOn(said: Readonly<Record<string, string>>): Set<string> {
  return new Set(said["in"] ? said["in"].split(",") : FIELDS.map(([field]) => field));
}

export function Facets({ address, app, found }: { address: Address; app: AppHost; found: Found | null }) {
  const { said } = address;
  const choose = (changes: Record<string, string | undefined>) => app.go(saying(address, changes));
  const on = fieldsOn(said);
  const counts = new Map(found?.facets.field.map(({ value, hits }) => [value, hits]));
  const isCounted = found !== null && found.counted_all;
  const turn = (field: Field) => {
    const next = FIELDS.map(([one]) => one).filter((one) => (one === field ? !on.has(one) : on.has(one)));
    // None is no search at all: the last one that is turned off turns the others on.
    choose({ in: next.length === FIELDS.length || next.length === 0 ? undefined : next.join(",") });
  };
  return (
    <div class="facets">
      <fieldset>
        <legend>In</legend>
        {FIELDS.map(([field, word]) => (
          <label class="facet">
            <input type="checkbox" checked={on.has(field)} onChange={() => turn(field)} />
            <span class="facetname">{word}</span>
            <span class="facetcount">{on.has(field) && counts.has(field) && many(counts.get(field) as number, isCounted)}</span>
          </label>
        ))}
      </fieldset>
      <fieldset>
        <legend>Time</legend>
        {[["", "Any time"] as [string, string], ...PERIODS].map(([value, word]) => (
          <label class="facet">
            <input type="radio" name="period" checked={!isOwnPeriod(said["since"], said["until"]) && (said["since"] ?? "") === value} onChange={() => choose({ since: value, until: undefined })} />
            <span class="facetname">{word}</span>
          </label>
        ))}
        {isOwnPeriod(said["since"], said["until"]) && <label class="facet"><input type="radio" name="period" checked readOnly /><span class="facetname">{periodWords(said["since"], said["until"])}</span></label>}
      </fieldset>
      <Values name="Project" values={found?.facets.project ?? []} chosen={said["project"]} arePaths isCounted={isCounted} onChoose={(project) => choose({ project })} />
      <Values name="Tool" values={found?.facets.tool ?? []} chosen={said["tool"]} isCounted={isCounted} onChoose={(tool) => choose({ tool })} />
      <Values name="Model" values={found?.facets.model ?? []} chosen={said["model"]} isCounted={isCounted} onChoose={(model) => choose({ model })} />
      <fieldset>
        <legend>State</legend>
        <label class="facet"><input type="checkbox" checked={Boolean(said["errors"])} onChange={() => choose({ errors: said["errors"] ? undefined : "1" })} /><span class="facetname">Only what failed</span></label>
      </fieldset>
    </div>
  );
}

function many(hits: number, isCounted: boolean): string {
  return `${count(hits)}${isCounted ? "" : "+"}`;
}

interface ValuesOptions {
  name: string;
  values: Counted[];
  chosen: string | undefined;
  arePaths?: boolean;
  isCounted: boolean;
  onChoose: (value: string | undefined) => void;
}

function Values({ name, values, chosen, arePaths, isCounted, onChoose }: ValuesOptions) {
  const shown = values.slice(0, SHOWN);
  if (chosen && !shown.some(({ value }) => value === chosen)) shown.unshift({ value: chosen, hits: values.find(({ value }) => value === chosen)?.hits ?? -1 });
  if (shown.length === 0) return null;
  const names = arePaths ? shortNames(shown.map(({ value }) => value)) : null;
  return (
    <section aria-label={name}>
      <h2>{name}</h2>
      {shown.map(({ value, hits }) => (
        <button type="button" class="facet" aria-pressed={value === chosen} title={visibleText(value)} onClick={() => onChoose(value === chosen ? undefined : value)}>
          <span class="facetname"><bdi>{visibleText(names?.get(value) ?? value)}</bdi></span>
          <span class="facetcount">{hits >= 0 && many(hits, isCounted)}</span>
          {value === chosen && <Icon name="close" />}
        </button>
      ))}
      {values.length > SHOWN && <p class="facetrest">{count(values.length - SHOWN)} more with fewer hits</p>}
    </section>
  );
}

/** "only in prompts", "not in outputs": whichever is shorter. */
function fieldWords(value: string): string {
  const on = value.split(",");
  const off = FIELDS.filter(([field]) => !on.includes(field));
  if (off.length < on.length && off.length > 0) return `not in ${off.map(([, word]) => word.toLowerCase()).join(", ")}`;
  return `only in ${on.map((one) => FIELDS.find(([field]) => field === one)?.[1].toLowerCase() ?? visibleText(one)).join(", ")}`;
}

const WORDS: Record<Narrowing, (value: string) => string> = {
  in: fieldWords,
  project: (value) => `project ${visibleText(value)}`,
  tool: (value) => `tool ${visibleText(value)}`,
  model: (value) => `model ${visibleText(value)}`,
  branch: (value) => `branch ${visibleText(value)}`,
  session: () => "one session",
  since: (value) => periodWords(value, undefined),
  until: (value) => periodWords(undefined, value),
  errors: () => "only what failed",
};

/** What narrows the search, each with a button that takes it away. */
export function Narrowed({ address, app, names }: { address: Address; app: AppHost; names: readonly Narrowing[] }) {
  return (
    <p class="narrowed">
      {names.map((name) => {
        const words = WORDS[name](address.said[name] ?? "");
        return <button type="button" class="toggle" aria-label={`Remove: ${words}`} onClick={() => app.go(saying(address, { [name]: undefined }))}>{words}<Icon name="close" /></button>;
      })}
      {names.length > 1 && <button type="button" class="toggle" onClick={() => app.go(saying(address, Object.fromEntries(names.map((name) => [name, undefined]))))}>Remove all</button>}
    </p>
  );
}
