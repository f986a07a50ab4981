// The versions of a file: after which turn of which session it was changed. A turn may have changed it many times.

import type { FileHistory } from "../api";
import { moment } from "../../text";

export type Change = FileHistory["changes"][number] & {
  agent_id?: string | null;
  tool?: string | null;
  added?: number | null;
  removed?: number | null;
};

export interface Version {
  /** "KEY@3"; turn 0 is what was there before the session. */
  id: string;
  session: string;
  turn: number;
  changes: Change[];
  added: number | null;
  removed: number | null;
  time: string | null;
}

export interface Group {
  session: string;
  /** The newest last. */
  versions: Version[];
}

/** The sessions, the one that changed the file last first; what cannot be placed is counted. */
export function groupsOf(changes: readonly Change[]): { groups: Group[]; unplaced: number } {
  const groups = new Map<string, Map<number, Version>>();
  let unplaced = 0;
  for (const change of changes) {
    const { session, turn } = change;
    if (!session || typeof turn !== "number") {
      unplaced += 1;
      continue;
    }
    const versions = groups.get(session) ?? new Map<number, Version>();
    groups.delete(session);
    groups.set(session, versions);
    const version = versions.get(turn) ?? { id: idOf(session, turn), session, turn, changes: [], added: 0, removed: 0, time: null };
    version.changes.push(change);
    version.added = sum(version.added, change.added);
    version.removed = sum(version.removed, change.removed);
    version.time = change.time ?? version.time;
    versions.set(turn, version);
  }
  const made = [...groups].map(([session, versions]) => ({ session, versions: [...versions.values()].sort((a, b) => a.turn - b.turn) }));
  return { groups: made.reverse(), unplaced };
}

function sum(a: number | null, b: number | null | undefined): number | null {
  return a === null || typeof b !== "number" ? null : a + b;
}

export function idOf(session: string, turn: number): string {
  return `${session}@${turn}`;
}

export function parseId(id: string | undefined): { session: string; turn: number } | null {
  const found = /^(.+)@(\d{1,9})$/.exec(id ?? "");
  return found ? { session: found[1] as string, turn: Number(found[2]) } : null;
}

/** What was there before a version: the one before in the session, or what the session found. */
export function before(group: Group, version: Version): string {
  const at = group.versions.indexOf(version);
  const last = group.versions[at - 1];
  return last ? last.id : idOf(group.session, 0);
}

export function when(time: string | null): string {
  const ms = time ? Date.parse(time) : Number.NaN;
  return Number.isNaN(ms) ? "" : moment(ms);
}
