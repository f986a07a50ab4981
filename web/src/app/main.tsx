// The app: the frame around the views, the address, the keys that work everywhere.

import { Component, render, type ComponentType } from "preact";
import type { Theme } from "../bar";
import { Icon } from "../icons";
import { remember, remembered } from "../memory";
import { at, readAddress, writeAddress, type Address, type ViewName } from "./address";
import { Anywhere } from "./anywhere";
import type { Index } from "./api";
import { ask } from "./ask";
import { Doctor } from "./doctor/doctor";
import { events } from "./events";
import { Files } from "./files/files";
import { Home } from "./home/home";
import { KeyHelp } from "./keyhelp";
import { Link } from "./pieces";
import { SearchView } from "./search/search";
import { SessionView } from "./session/session";
import { Shelter } from "./shelter";
import { Sign } from "./signs";
import { isBuilding, Status } from "./status";
import { chooseTheme, nextTheme, rememberedTheme, THEMES, wear } from "./theme";
import { Usage } from "./usage/usage";
import type { AppHost, ViewOptions } from "./view";

const VIEWS: Record<ViewName, ComponentType<ViewOptions>> = { home: Home, search: SearchView, usage: Usage, files: Files, doctor: Doctor, session: SessionView };

type RailName = Exclude<ViewName, "session">;

const RAIL: [RailName, string][] = [["home", "Home"], ["search", "Search"], ["usage", "Usage"], ["files", "Files"], ["doctor", "Doctor"]];

const TITLES: Record<ViewName, string> = { home: "Sessions", search: "Search", usage: "Usage", files: "Files", doctor: "Doctor", session: "Session" };

const LOOK = 400; // milliseconds between two looks at how far the index is
const GOING = 1500; // how long `g` waits for its second key
const LONG = 8000; // after which the foot says more than that it tries

interface AppState {
  address: Address;
  said: string;
  isConnected: boolean;
  isShutOut: boolean;
  isLong: boolean;
  index: Index | null;
  theme: Theme;
  areKeysOn: boolean;
  open: "help" | "anywhere" | null;
}

class App extends Component<object, AppState> implements AppHost {
  override state: AppState = {
    address: readAddress(location.href), said: "", isConnected: true, isShutOut: false, isLong: false, index: null,
    theme: rememberedTheme(), areKeysOn: remembered("clew-keys") !== "off", open: null,
  };
  private readonly presses: ((key: string, event: KeyboardEvent) => boolean)[] = [];
  private saying = 0;
  private going = -Infinity;
  private waiting = 0;
  private looking = 0;
  private steps = 0;

  override componentDidMount(): void {
    wear(this.state.theme);
    // How many steps of Back stay in the app; a page that is loaded again goes on counting.
    if (typeof history.state === "number") this.steps = history.state;
    else history.replaceState(0, "");
    this.title(TITLES[this.state.address.view]);
    addEventListener("popstate", ({ state }) => {
      if (typeof state === "number") this.steps = state;
      this.arrive(readAddress(location.href));
    });
    addEventListener("keydown", (event) => this.pressed(event));
    events.watch(() => this.connection());
    events.listen(({ kind }) => {
      if (kind === "refresh") void this.look();
    });
    void this.look();
  }

  get isReadOnly(): boolean {
    return this.state.index?.read_only ?? false;
  }

  get index(): Index | null {
    return this.state.index;
  }

  go(address: Address, { replace = false } = {}): void {
    const url = writeAddress(address);
    if (replace) history.replaceState(this.steps, "", url);
    else history.pushState((this.steps += 1), "", url);
    const isOther = address.view !== this.state.address.view;
    this.arrive(address, () => {
      if (isOther && !address.place) scrollTo({ top: 0, behavior: "instant" });
    });
  }

  /** Show an address. Another view takes the focus, so that keys and readers of screens begin there. */
  private arrive(address: Address, then?: () => void): void {
    const isOther = address.view !== this.state.address.view;
    if (isOther) this.title(TITLES[address.view]);
    this.setState({ address }, () => {
      then?.();
      if (isOther) this.toMain();
    });
  }

  private toMain(): void {
    const main = document.querySelector<HTMLElement>("main");
    if (!main || main.contains(document.activeElement)) return;
    main.tabIndex = -1;
    main.focus({ preventScroll: true });
  }

  say(text: string): void {
    clearTimeout(this.saying);
    this.setState({ said: text });
    this.saying = setTimeout(() => this.setState({ said: "" }), 2500);
  }

  copy(text: string, what: string): void {
    void navigator.clipboard.writeText(text).then(() => this.say(`${what} copied`), () => this.say("The browser does not let this page copy"));
  }

  title(text: string): void {
    document.title = `${text} · clew`;
  }

  onKey(press: (key: string, event: KeyboardEvent) => boolean): () => void {
    this.presses.push(press);
    return () => {
      const found = this.presses.indexOf(press);
      if (found >= 0) this.presses.splice(found, 1);
    };
  }

  private connection(): void {
    const { isConnected, isShutOut } = events;
    clearTimeout(this.waiting);
    this.setState({ isConnected, isShutOut, isLong: false });
    if (!isConnected) this.waiting = setTimeout(() => this.setState({ isLong: true }), LONG);
  }

  /** How far the index is, again and again until it is there; then the lists are complete and are asked for anew. */
  private async look(): Promise<void> {
    clearTimeout(this.looking);
    try {
      const was = this.state.index;
      const index = await ask<Index>("/api/index");
      this.setState({ index });
      if (isBuilding(index)) this.looking = setTimeout(() => void this.look(), LOOK);
      else if (was && isBuilding(was)) events.tell({ kind: "refresh" });
    } catch {
      // The foot says that the server is gone; when it is back, this is asked again.
    }
  }

  private pressed(event: KeyboardEvent): void {
    const isModified = event.ctrlKey || event.metaKey;
    if (isModified && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k") {
      event.preventDefault();
      this.setState({ open: this.state.open === "anywhere" ? null : "anywhere" });
      return;
    }
    if (document.querySelector("dialog[open]")) return;
    if (isModified && !event.altKey && !event.shiftKey && event.key === "f") {
      if (this.use("Ctrl F", event)) event.preventDefault();
      return;
    }
    if (isModified || event.altKey || event.isComposing) return;
    if (event.key === "Escape") {
      if (this.use("Escape", event)) event.preventDefault();
      else if (isTyping(event.target)) (event.target as HTMLElement).blur();
      else if (this.steps > 0) history.back();
      return;
    }
    if (isTyping(event.target) || (event.key.length === 1 && !this.state.areKeysOn)) return;
    if (this.press(event)) event.preventDefault();
  }

  private use(key: string, event: KeyboardEvent): boolean {
    return [...this.presses].reverse().some((press) => press(key, event));
  }

  private press(event: KeyboardEvent): boolean {
    const { key } = event;
    if (performance.now() - this.going < GOING) {
      this.going = -Infinity;
      const found = RAIL.find(([view]) => view[0] === key);
      if (found) {
        this.go(at(found[0]));
        return true;
      }
    }
    if (this.use(key, event)) return true;
    if (key === "g") this.going = performance.now();
    else if (key === "/") this.go(at("search"));
    else if (key === "?") this.setState({ open: "help" });
    else return false;
    return true;
  }

  /** A dialog says late that it was closed: another may be open by then. */
  private closed(which: "help" | "anywhere"): void {
    if (this.state.open === which) this.setState({ open: null });
  }

  private changeTheme(theme: Theme): void {
    chooseTheme(theme);
    this.setState({ theme });
    this.say(THEMES.find(([one]) => one === theme)?.[1] ?? "");
  }

  render(_: object, { address, said, isConnected, isShutOut, isLong, index, theme, areKeysOn, open }: AppState) {
    const View = VIEWS[address.view];
    const colours = THEMES.find(([one]) => one === theme)?.[1] ?? "";
    return (
      <div class="app">
        <a class="skip" href="#content" onClick={(event) => { event.preventDefault(); this.toMain(); }}>Skip to the content</a>
        <nav class="apprail" aria-label="Views">
          {RAIL.map(([view, word]) => <Link to={at(view)} app={this} class="apprailrow" current={view === address.view}><Sign name={view} /><span>{word}</span></Link>)}
          <span class="apprailspace" />
          <button type="button" class="apprailrow is-wide" title="Go to anything (Ctrl K)" onClick={() => this.setState({ open: "anywhere" })}><Sign name="go" /><span>Go to</span></button>
          <button type="button" class="apprailrow is-wide" aria-label={`Colours: ${colours}`} title={`Colours: ${colours}`} onClick={() => this.changeTheme(nextTheme(theme))}><Icon name="theme" /></button>
          <button type="button" class="apprailrow is-wide" aria-label="Keys and help" title="Keys ( ? )" onClick={() => this.setState({ open: "help" })}><Icon name="help" /></button>
          <button type="button" class="apprailrow is-narrow" onClick={() => this.setState({ open: "help" })}><Sign name="more" /><span>More</span></button>
        </nav>
        <div class="appview" id="content" tabIndex={-1}>
          <div class={`view view-${address.view}`}><Shelter app={this} of={address.view}><View key={address.view} address={address} app={this} /></Shelter></div>
        </div>
        <Status index={index} isConnected={isConnected} isShutOut={isShutOut} isLong={isLong} hurry={() => events.hurry()} />
        <div class={said ? "said is-shown" : "said"} role="status">{said}</div>
        {open === "help" && (
          <KeyHelp
            view={address.view} areKeysOn={areKeysOn} theme={theme} version={index?.version ?? ""} onClose={() => this.closed("help")} onTheme={(chosen) => this.changeTheme(chosen)}
            onKeys={(on) => {
              remember("clew-keys", on ? "on" : "off");
              this.setState({ areKeysOn: on });
            }}
          />
        )}
        {open === "anywhere" && <Anywhere app={this} views={RAIL} onClose={() => this.closed("anywhere")} />}
      </div>
    );
  }
}

/** Whether letters go into a field. */
function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !/^(checkbox|radio|button|submit|reset|range|color)$/.test(target.type);
  return target.isContentEditable || /^(TEXTAREA|SELECT)$/.test(target.tagName);
}

render(<App />, document.getElementById("app") as HTMLElement);
