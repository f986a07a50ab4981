// The header of a session, which stays: what it is, how it goes, and what can be done.

import { Component } from "preact";
import { LEVELS } from "../../bar";
import type { Level } from "../../folds";
import { Icon } from "../../icons";
import { count, money, plural } from "../../text";
import { Isolated } from "../../visible";
import { wholeCalls, wholeCost } from "../../whole";
import { at, saying, type Address } from "../address";
import { lastName } from "../names";
import { Link } from "../pieces";
import type { AppHost } from "../view";
import { ExportRow, Exports } from "./exports";
import { Menu } from "./menu";
import { MoreMenu } from "./more";
import type { Story } from "./story";
import { hasWays, wayName, Ways } from "./ways";

export interface HeaderOptions {
  story: Story;
  address: Address;
  app: AppHost;
  isLive: boolean;
  isFollowing: boolean;
  level: Level;
  turn: number;
  onLevel: (level: Level) => void;
  onTurns: () => void;
  onSearch: () => void;
  onFollow: () => void;
  onCopyResume: () => void;
  onCopyMarkdown: () => void;
  onCopyLink: () => void;
  self: (header: Header | null) => void;
}

export class Header extends Component<HeaderOptions> {
  private exports: Menu | null = null;
  private ways: Menu | null = null;

  override componentDidMount(): void {
    this.props.self(this);
  }

  override componentWillUnmount(): void {
    this.props.self(null);
  }

  openExport(): void {
    this.exports?.toggle(true);
  }

  openWays(): boolean {
    this.ways?.toggle(true);
    return this.ways !== null;
  }

  render(options: HeaderOptions) {
    const { story, address, app, level, turn } = options;
    const { heads } = story.main;
    const isContext = address.said["tab"] === "context";
    const tab = (name: string | undefined, word: string) => (
      <Link to={saying(address, { tab: name, q: undefined })} app={app} class="tab" current={(name ?? "") === (address.said["tab"] ?? "")}>{word}</Link>
    );
    return (
      <header class="bar sessionbar">
        <div class="barrow">
          {story.agent
            ? <Link to={at("session", { session: story.key })} app={app} class="barback" title="The session that started it"><Icon name="back" label="The session that started it" /></Link>
            : <Link to={at("home")} app={app} class="barback phoneonly" title="All sessions"><Icon name="back" label="All sessions" /></Link>}
          <Name {...options} />
          <nav class="tabs" aria-label="Parts of the session">{tab(undefined, "Reader")}{!story.agent && tab("context", "Context")}</nav>
          {!isContext && (
            <>
              <Levels level={level} onLevel={options.onLevel} />
              {hasWays(story) && (
                <Menu app={app} name={`Shown: ${wayName(story.branch)}`} icon="branch" title={`${wayName(story.branch)}: choose what is shown (b)`} class={story.branch ? "is-chosen" : ""} self={(menu) => { this.ways = menu; }}>
                  <Ways story={story} address={address} app={app} />
                </Menu>
              )}
              <button type="button" class="turnbutton" aria-label={`${turn}/${heads.length}: list of turns`} onClick={options.onTurns}><Icon name="list" /><span>{turn}/{heads.length}</span></button>
              <button type="button" class="findbutton" aria-label="Find in this session" title="Find ( / )" onClick={options.onSearch}><Icon name="search" /></button>
            </>
          )}
          {!story.agent && (
            <>
              <button type="button" class="notphone" aria-label="Copy resume line" title="Copy resume line (r)" onClick={options.onCopyResume}><Icon name="copy" /><span class="wide">Resume</span></button>
              <Menu app={app} name="Export" icon="download" title="Export (x)" class="notphone" isNamed self={(menu) => { this.exports = menu; }}>
                <Exports session={story.key} />
              </Menu>
            </>
          )}
          <Menu app={app} name="More" icon="more" class="moremenu">
            {!isContext && <div class="menugroup menulevels"><Levels level={level} onLevel={options.onLevel} /></div>}
            {!story.agent && (
              <div class="menugroup phoneonly">
                <ExportRow session={story.key} to="html"><span>Export as a page</span></ExportRow>
              </div>
            )}
            <MoreMenu story={story} app={app} onCopyResume={options.onCopyResume} onCopyMarkdown={options.onCopyMarkdown} onCopyLink={options.onCopyLink} />
          </Menu>
        </div>
      </header>
    );
  }
}

function Levels({ level, onLevel }: { level: Level; onLevel: (level: Level) => void }) {
  return (
    <div class="levels" role="group" aria-label="How much is shown">
      {LEVELS.map(([n, word, title]) => (
        <button type="button" aria-pressed={level === n} title={`${title} (${n})`} onClick={() => onLevel(n)}>{word}</button>
      ))}
    </div>
  );
}

function Name({ story, isLive, isFollowing, onFollow }: HeaderOptions) {
  const { head } = story.session;
  const cost = wholeCost(head);
  const [, failed] = wholeCalls(head);
  return (
    <div class="barname">
      <h1 class="bartitle"><Isolated text={head.title || (story.agent ? "Sub-agent" : "Untitled session")} /></h1>
      <div class="barfacts">
        {isLive && <button type="button" class={isFollowing ? "live is-following" : "live"} aria-pressed={isFollowing} title={isFollowing ? "Following the end (f)" : "Follow the end (f)"} onClick={onFollow}><span class="livedot" aria-hidden="true" />live{isFollowing ? ", following" : ""}</button>}
        {story.agent && <span>sub-agent</span>}
        {head.project && <span class="barproject"><Isolated text={lastName(head.project)} />{head.branch && <> · <Isolated text={head.branch} /></>}</span>}
        {cost || cost === null ? <span class="barcost">{money(cost)}</span> : null}
        {failed ? <span class="err"><Icon name="failed" />{count(failed)} failed</span> : null}
        {head.damaged ? <span class="warn"><Icon name="warning" />{plural(head.damaged, "damaged piece")}</span> : null}
      </div>
    </div>
  );
}
