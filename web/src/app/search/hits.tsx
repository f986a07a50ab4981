// The hits as they stand in the list: a session, a few of its hits, and how many more there are.

import { Icon } from "../../icons";
import { count, iso, moment, plural } from "../../text";
import { Isolated, visibleText } from "../../visible";
import { at, type Address } from "../address";
import { lastName } from "../names";
import { Link } from "../pieces";
import { age, when } from "../times";
import type { AppHost } from "../view";
import type { Finding, Group, Hit } from "./finding";
import { Snippet } from "./snippet";

export type Item =
  | { kind: "session"; key: string; group: Group }
  | { kind: "hit"; key: string; group: Group; hit: Hit; n: number }
  | { kind: "more"; key: string; group: Group; isOpen: boolean; isAsking: boolean };

export function itemsOf({ found, opened }: Finding): Item[] {
  const items: Item[] = [];
  let n = 0;
  for (const group of found?.groups ?? []) {
    const name = group.key ?? group.session;
    const all = group.key ? opened.get(group.key) : undefined;
    items.push({ kind: "session", key: name, group });
    (all ?? group.hits).forEach((hit, at) => {
      items.push({ kind: "hit", key: `${name} ${at}`, group, hit, n });
      n += 1;
    });
    if (group.more > 0 && group.key) items.push({ kind: "more", key: `${name} more`, group, isOpen: Boolean(all), isAsking: all === null });
  }
  return items;
}

/** Where a hit leads as far as it is known without asking. */
export function addressOf(hit: Hit, q: string): Address {
  return at("session", { session: hit.key ?? undefined, q }, hit.at ?? "");
}

const COMMANDS = new Set(["bash", "powershell", "bashoutput", "killshell"]);
const PATHS = new Set(["read", "ls", "glob", "notebookread"]);

/** prompt, answer, thinking, Bash command, Read path, Bash output … */
export function placeWords({ field, tool }: Hit): string {
  const named = tool ? `${visibleText(tool).slice(0, 40)} ` : "";
  const small = tool?.toLowerCase() ?? "";
  switch (field) {
    case "text":
      return "answer";
    case "tool_input":
      return named + (COMMANDS.has(small) ? "command" : PATHS.has(small) ? "path" : "input");
    case "tool_result":
      return `${named}output`;
    default:
      return field.replaceAll("_", " ");
  }
}

const ROLES: Record<string, string> = { prompt: "user", thinking: "think", tool_input: "tool", tool_result: "tool" };

/** `isLeast` says that its hits were not counted to the end. */
export function GroupLine({ group, q, app, isLeast }: { group: Group; q: string; app: AppHost; isLeast: boolean }) {
  const newest = when(group.hits[0]?.time);
  return (
    <div class="foundsession">
      <Link to={at("session", { session: group.key ?? undefined, q })} app={app} class="foundtitle"><Isolated text={(group.title || "Untitled session").slice(0, 300)} /></Link>
      <span class="foundfacts">
        {group.project && <span class="foundproject" title={visibleText(group.project)}><Isolated text={lastName(group.project)} /></span>}
        {newest !== null && <time dateTime={iso(newest)} title={moment(newest)}>{age(newest)}</time>}
        <span title={isLeast ? "At least: only the newest hits were gone through" : undefined}>{isLeast ? `${count(group.count)}+\u00a0hits` : plural(group.count, "hit")}</span>
      </span>
    </div>
  );
}

interface HitOptions {
  hit: Hit;
  id: string;
  q: string;
  lead: number;
  app: AppHost;
  isCurrent: boolean;
  onOpen: () => void;
}

export function HitLine({ hit, id, q, lead, app, isCurrent, onOpen }: HitOptions) {
  const time = when(hit.time);
  return (
    <Link to={addressOf(hit, q)} app={app} id={id} class={isCurrent ? "hit is-current" : "hit"} onOpen={onOpen}>
      <span class={`hitplace of-${ROLES[hit.field] ?? "text"}`}>{hit.is_error && <Icon name="failed" label="failed" />}{placeWords(hit)}</span>
      <span class="hitturn">{hit.where === "sub-agent" ? "sub-agent" : hit.turn ? `turn\u00a0${count(hit.turn)}` : ""}</span>
      <span class="hittext"><Snippet snippet={hit.snippet} ranges={hit.ranges} lead={lead} /></span>
      <time class="hittime" dateTime={time === null ? undefined : iso(time)} title={time === null ? undefined : moment(time)}>{time === null ? "" : age(time)}</time>
    </Link>
  );
}
