// Every change of a file, by session and turn; what is not told in full, and what came from elsewhere, is said.

import { Component } from "preact";
import { Changes } from "../../diff";
import { Icon } from "../../icons";
import { plural } from "../../text";
import { Isolated, visible } from "../../visible";
import { at, saying, type Address } from "../address";
import type { SessionFiles } from "../api";
import { ask } from "../ask";
import { Link } from "../pieces";
import { titles } from "../titles";
import type { AppHost } from "../view";
import { before, when, type Group, type Version } from "./versions";

interface Gap {
  first_turn?: number | null;
  last_turn?: number | null;
  why?: string | null;
  seen_by?: string | null;
}

interface Told {
  unknown: Set<number>;
  gaps: Gap[];
}

const OPEN = 4; // sessions that are open at first
const SHOWN = 30;

interface HistoryOptions {
  path: string;
  groups: Group[];
  unplaced: number;
  address: Address;
  app: AppHost;
}

export class History extends Component<HistoryOptions, { tick: number; isAll: boolean }> {
  override state = { tick: 0, isAll: false };
  private readonly told = new Map<string, Told | null>();
  private readonly turned = new Map<string, boolean>();
  private isGone = false;

  override componentWillUnmount(): void {
    this.isGone = true;
  }

  private readonly changed = () => {
    if (!this.isGone) this.setState(({ tick }) => ({ tick: tick + 1 }));
  };

  /** What only the session itself can tell: gaps, and versions whose text is not known. */
  private about(session: string): Told | null {
    if (!this.told.has(session)) {
      this.told.set(session, null);
      void ask<SessionFiles>(`/api/sessions/${encodeURIComponent(session)}/files`).then(({ files }) => {
        const found = files.find(({ path }) => path === this.props.path);
        const last = new Map((found?.versions ?? []).map(({ turn, known }) => [turn, known]));
        this.told.set(session, { unknown: new Set([...last].filter(([, known]) => !known).map(([turn]) => turn)), gaps: (found?.gaps ?? []) as Gap[] });
        this.changed();
      }, () => undefined);
    }
    return this.told.get(session) ?? null;
  }

  render({ groups, unplaced, address, app }: HistoryOptions, { isAll }: { tick: number; isAll: boolean }) {
    const shown = isAll ? groups : groups.slice(0, SHOWN);
    titles.want(shown.map(({ session }) => session), this.changed);
    return (
      <div class="history">
        {shown.map((group, n) => {
          const isOpen = this.turned.get(group.session) ?? n < OPEN;
          const told = isOpen ? this.about(group.session) : null;
          return (
            <section class="changedby" key={group.session}>
              <div class="changedhead">
                <button type="button" class="fold" aria-expanded={isOpen} onClick={() => { this.turned.set(group.session, !isOpen); this.changed(); }}>
                  <Icon name="chevron" /><Isolated class="changedtitle" text={titles.of(group.session)?.title || group.session} />
                </button>
                {!isOpen && <span class="faint nobreak">{when(group.versions[group.versions.length - 1]?.time ?? null)}</span>}
                <span class="faint nobreak">{plural(group.versions.length, "turn")}</span>
                <Changes added={total(group, "added")} removed={total(group, "removed")} />
              </div>
              {isOpen && (
                <ol class="versions">
                  {[...group.versions].reverse().map((version) => <Row key={version.id} version={version} isKnown={!told?.unknown.has(version.turn)} from={before(group, version)} address={address} app={app} />)}
                  {told?.gaps.map((gap, at) => (
                    <li key={`gap${at}`} class="notice is-warning"><Icon name="warning" /><span class="noticetext">{gapWords(gap)}{gap.why ? <>: {visible(gap.why)}</> : null}</span></li>
                  ))}
                </ol>
              )}
            </section>
          );
        })}
        {groups.length > SHOWN && <button type="button" class="more" aria-expanded={isAll} onClick={() => this.setState({ isAll: !isAll })}>{isAll ? `Show the newest ${SHOWN}` : `Show all ${plural(groups.length, "session")}`}</button>}
        {unplaced > 0 && <p class="faint smallwords">{plural(unplaced, "change")} of sessions that are gone or of no known turn.</p>}
      </div>
    );
  }
}

function total(group: Group, what: "added" | "removed"): number {
  return group.versions.reduce((sum, version) => sum + (version[what] ?? 0), 0);
}

function gapWords({ first_turn: first, last_turn: last, seen_by: seen }: Gap): string {
  const where = typeof first === "number" && typeof last === "number" && first !== last ? `Between turns ${first} and ${last}` : typeof last === "number" ? `Before turn ${last}` : "At some time";
  return `${where} something else changed the file${seen ? `, as ${seen} shows` : ""}`;
}

function Row({ version, isKnown, from, address, app }: { version: Version; isKnown: boolean; from: string; address: Address; app: AppHost }) {
  const [first] = version.changes;
  const agents = new Set(version.changes.map(({ agent_id }) => agent_id).filter(Boolean));
  const actions = [...new Set(version.changes.map(({ action }) => action))].join(", ");
  return (
    <li class="version">
      <Link class="versionturn" to={at("session", { session: version.session }, `t${version.turn}`)} app={app}>turn {version.turn}</Link>
      <span class="versionwhat">{visible(actions)}{version.changes.length > 1 && ` ×${version.changes.length}`}{first?.tool && first.tool.toLowerCase() !== actions ? <span class="faint"> {visible(first.tool)}</span> : null}{agents.size > 0 && <span class="faint"> by a sub-agent</span>}</span>
      <Changes added={version.added ?? 0} removed={version.removed ?? 0} />
      <span class="faint nobreak">{when(version.time)}</span>
      {isKnown
        ? <span class="versionlinks"><Link to={saying(address, { tab: "diff", from, to: version.id })} app={app}>diff</Link><Link to={saying(address, { tab: "text", to: version.id, from: undefined })} app={app}>text</Link></span>
        : <span class="versionlinks warn">text not told</span>}
    </li>
  );
}
