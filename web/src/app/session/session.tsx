// One session: its header, and the Reader or the Context below it.

import { Component } from "preact";
import { at, saying, writeAddress } from "../address";
import type { Sessions } from "../api";
import { ask, askText } from "../ask";
import { Empty, Failed, Link, Skeleton } from "../pieces";
import type { ViewOptions } from "../view";
import { ContextView } from "./context";
import { Header } from "./header";
import { levelOf, Reading } from "./reading";
import { resumeLine } from "./resume";
import { Story } from "./story";

interface SessionState {
  story: Story | null;
  error: unknown;
  isListing: boolean;
  tick: number;
}

export class SessionView extends Component<ViewOptions, SessionState> {
  override state: SessionState = { story: null, error: null, isListing: false, tick: 0 };
  private reading: Reading | null = null;
  private header: Header | null = null;
  private opening = 0;
  private unkey: (() => void) | null = null;

  override componentDidMount(): void {
    this.unkey = this.props.app.onKey((key) => this.press(key));
    void this.open();
  }

  override componentWillUnmount(): void {
    this.opening += 1;
    this.unkey?.();
    this.state.story?.close();
  }

  override componentDidUpdate({ address: before }: ViewOptions): void {
    if (this.name(before) !== this.name(this.props.address)) void this.open();
  }

  private name({ said }: ViewOptions["address"]): string {
    return JSON.stringify([said["session"], said["agent"], said["branch"]]);
  }

  private async open(): Promise<void> {
    const { said } = this.props.address;
    const turn = (this.opening += 1);
    const story = new Story(said["session"] ?? "", said["agent"] ?? "", said["branch"] ?? "");
    this.state.story?.close();
    this.setState({ story: null, error: null });
    try {
      if (!story.key) throw new Error("No session is named in the address.");
      await story.open();
      await story.ready(this.props.address.place);
    } catch (error) {
      if (turn === this.opening) this.setState({ error });
      return;
    }
    if (turn !== this.opening) return story.close();
    this.setState({ story });
    this.props.app.title(story.session.head.title || "Untitled session");
  }

  private mounted(reading: Reading | null): void {
    this.reading = reading;
    if (reading && this.state.story?.session.live) reading.tail.setLive(true);
  }

  private press(key: string): boolean {
    const { story } = this.state;
    if (!story) return false;
    switch (key) {
      case "r":
        this.copyResume();
        return true;
      case "x":
        this.header?.openExport();
        return true;
      case "b":
        if (!this.header?.openWays()) this.props.app.say("There is only one way through this session");
        return true;
      case "[":
      case "]":
        void this.neighbour(key === "]" ? 1 : -1);
        return true;
      case "y":
        if (this.reading) return false;
        this.copyLink();
        return true;
      default:
        return false;
    }
  }

  private async neighbour(by: 1 | -1): Promise<void> {
    const { app, address } = this.props;
    try {
      const { sessions } = await ask<Sessions>("/api/sessions", { limit: 1000 });
      const found = sessions.findIndex((row) => row.key === address.said["session"]);
      const next = found < 0 ? undefined : sessions[found + by];
      if (next) app.go(at("session", { session: next.key }));
      else app.say(by > 0 ? "That was the last session" : "That was the first session");
    } catch (error) {
      app.say(error instanceof Error ? error.message : String(error));
    }
  }

  private async copy(text: string, done: string, otherwise: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      this.props.app.say(done);
    } catch {
      this.props.app.say(otherwise);
    }
  }

  private copyResume(): void {
    const { story } = this.state;
    if (!story || story.agent) return this.props.app.say("A sub-agent cannot be resumed by itself");
    const line = resumeLine(story.session.id, story.session.head.project);
    if (!line) return this.props.app.say("The id of this session cannot be pasted safely");
    void this.copy(line, "Resume line copied", line);
  }

  private async copyMarkdown(): Promise<void> {
    const { story } = this.state;
    if (!story) return;
    try {
      const text = await askText(`/api/export/${encodeURIComponent(story.key)}`, { to: "md" });
      await this.copy(text, "Copied as Markdown", "The browser did not allow to copy: Export has it as a file");
    } catch (error) {
      this.props.app.say(error instanceof Error ? error.message : String(error));
    }
  }

  private copyLink(): void {
    const here = this.reading?.reader.here();
    const place = here ? here.slot.key(here.at) : this.props.address.place;
    const address = { ...this.props.address, place };
    this.props.app.go(address, { replace: true });
    void this.copy(new URL(writeAddress(address), location.href).href, "Link copied", "The link is in the address line");
  }

  render({ address, app }: ViewOptions, { story, error, isListing }: SessionState) {
    if (error) {
      return (
        <main class="sessionfailed">
          <h1>This session cannot be shown</h1>
          <Failed error={error} again={() => void this.open()} />
          {address.said["branch"] && <p><Link to={{ ...saying(address, { branch: undefined }), place: "" }} app={app}>Show everything</Link></p>}
          <p><Link to={at("home")} app={app}>All sessions</Link></p>
        </main>
      );
    }
    if (!story) return <main class="sessionwait"><div class="bar sessionbar"><div class="barrow" /></div><h1 class="unseen">Session</h1><Skeleton /></main>;
    const isContext = address.said["tab"] === "context" && !story.agent;
    const isEmpty = story.session.turns.length === 0 && (story.session.head.lines ?? 0) === 0;
    return (
      <main class="sessionmain">
        <Header
          self={(header) => { this.header = header; }}
          story={story} address={address} app={app} level={levelOf(address)} turn={this.reading?.state.turn ?? 1}
          isLive={this.reading?.tail?.isLive ?? story.session.live} isFollowing={this.reading?.tail?.isFollowing ?? false}
          onLevel={(level) => this.reading?.setLevel(level)} onTurns={() => this.setState({ isListing: !isListing })}
          onSearch={() => this.reading?.openSearch(true)} onFollow={() => this.reading?.tail.toggle()}
          onCopyResume={() => this.copyResume()} onCopyMarkdown={() => void this.copyMarkdown()} onCopyLink={() => this.copyLink()}
        />
        {isContext ? <ContextView story={story} address={address} app={app} /> : isEmpty ? (
          <Empty><p>There is nothing in the file of this session.</p></Empty>
        ) : (
          <Reading
            key={story}
            self={(reading) => this.mounted(reading)}
            story={story} address={address} app={app} isListing={isListing}
            onListing={(is) => this.setState({ isListing: is })}
            onChange={() => this.setState({ tick: this.state.tick + 1 })}
            onOutdated={() => void this.open()}
          />
        )}
      </main>
    );
  }
}
