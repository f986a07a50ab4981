// A version of a file, and what makes two of them different.

import { Component } from "preact";
import { CodeBlock } from "../../code";
import { DiffBlock } from "../../diff";
import { bytes, plural } from "../../text";
import { visibleText } from "../../visible";
import { saying, type Address } from "../address";
import type { FileDiff, FileVersion } from "../api";
import { ask } from "../ask";
import { OwnFolds } from "../own_folds";
import { Failed, Skeleton } from "../pieces";
import { titles } from "../titles";
import type { AppHost } from "../view";
import { compareTexts } from "./compare";
import { before, parseId, when, type Group } from "./versions";

interface ShowingOptions {
  path: string;
  groups: Group[];
  address: Address;
  app: AppHost;
}

type Pair = Pick<FileDiff, "is_text" | "diff">;

type Shown = { key: string; value: unknown; error: unknown };

/** Loads what belongs to a key, and forgets what is no longer wanted. */
abstract class Showing<T> extends Component<ShowingOptions, { shown: Shown | null; tick: number }> {
  override state: { shown: Shown | null; tick: number } = { shown: null, tick: 0 };
  protected readonly changed = () => { if (!this.isGone) this.setState(({ tick }) => ({ tick: tick + 1 })); };
  protected readonly folds = new OwnFolds(this.changed);
  private wanted = "";
  private isGone = false;

  abstract get key(): string;
  abstract load(): Promise<T>;

  override componentDidMount(): void {
    this.want();
  }

  override componentDidUpdate(): void {
    this.want();
  }

  override componentWillUnmount(): void {
    this.isGone = true;
  }

  private want(): void {
    const { key } = this;
    if (!key || key === this.wanted) return;
    this.wanted = key;
    const keep = (shown: Shown) => { if (!this.isGone && this.wanted === key) this.setState({ shown }); };
    this.load().then((value) => keep({ key, value, error: null }), (error: unknown) => keep({ key, value: null, error }));
  }

  protected again(): void {
    this.wanted = "";
    this.setState({ shown: null });
  }

  /** The answer to what is asked for now, or why there is none. */
  protected answer(draw: (value: T) => preact.ComponentChildren): preact.ComponentChildren {
    const { shown } = this.state;
    if (!shown || shown.key !== this.key) return <Skeleton rows={5} />;
    return shown.error ? <Failed error={shown.error} again={() => this.again()} /> : draw(shown.value as T);
  }
}

interface PickerOptions extends ShowingOptions {
  label: string;
  value: string;
  withBefore: boolean;
  onPick: (id: string) => void;
  changed: () => void;
}

/** One of all versions, by session. */
function Picker({ groups, label, value, withBefore, onPick, changed }: PickerOptions) {
  titles.want(groups.slice(0, 50).map(({ session }) => session), changed);
  return (
    <label class="pick">{label}{" "}
      <select value={value} onChange={(event) => onPick(event.currentTarget.value)}>
        {groups.map((group) => (
          <optgroup key={group.session} label={visibleText(titles.of(group.session)?.title || group.session).slice(0, 80)}>
            {[...group.versions].reverse().map((version) => <option key={version.id} value={version.id}>{`after turn ${version.turn} · ${when(version.time)}`}</option>)}
            {withBefore && <option value={`${group.session}@0`}>before the session</option>}
          </optgroup>
        ))}
      </select>
    </label>
  );
}

function newest(groups: Group[]): string {
  const [group] = groups;
  return group?.versions[group.versions.length - 1]?.id ?? "";
}

export class VersionText extends Showing<FileVersion> {
  private get to(): string {
    return parseId(this.props.address.said.to) ? (this.props.address.said.to as string) : newest(this.props.groups);
  }

  get key(): string {
    return this.to && `${this.props.path}\0${this.to}`;
  }

  load(): Promise<FileVersion> {
    return textOf(this.props.path, this.to);
  }

  render(options: ShowingOptions) {
    const { app, address } = options;
    return (
      <div class="showing">
        <div class="picks"><Picker {...options} label="Text" value={this.to} withBefore={false} changed={this.changed} onPick={(to) => app.go(saying(address, { to }))} /></div>
        {this.answer(({ text, is_text: isText, bytes: size, path }) => (
          isText ? <CodeBlock code={{ kind: "code", text, path, first_line: 1 }} place={{ folds: this.folds, key: this.key }} cut="none" /> : <p class="faint">{bytes(size)} that are no text.</p>
        ))}
      </div>
    );
  }
}

export class VersionDiff extends Showing<Pair> {
  private get ends(): [string, string] {
    const { said } = this.props.address;
    const to = parseId(said.to) ? (said.to as string) : newest(this.props.groups);
    if (parseId(said.from)) return [said.from as string, to];
    const group = this.props.groups.find(({ session }) => session === parseId(to)?.session);
    const version = group?.versions.find(({ id }) => id === to);
    return [group && version ? before(group, version) : "", to];
  }

  get key(): string {
    const [from, to] = this.ends;
    return from && to ? `${this.props.path}\0${from}\0${to}` : "";
  }

  async load(): Promise<Pair> {
    const { path } = this.props;
    const [from, to] = this.ends;
    const [a, b] = [parseId(from), parseId(to)];
    if (!a || !b) throw new Error("There is no such version.");
    if (a.session === b.session) {
      if (a.turn > b.turn) throw new Error("The first version is the later one. Choose them the other way round.");
      return ask<Pair>(`/api/sessions/${encodeURIComponent(a.session)}/diff`, { path, from_turn: String(a.turn), to_turn: String(b.turn) });
    }
    if (a.turn === 0 || b.turn === 0) throw new Error("What was there before a session can only be compared with versions of that session.");
    const [old, now] = await Promise.all([textOf(path, from), textOf(path, to)]);
    const isText = old.is_text && now.is_text;
    return { is_text: isText, diff: isText ? compareTexts(path, old.text, now.text) : { kind: "diff", path, hunks: [] } };
  }

  render(options: ShowingOptions) {
    const { app, address } = options;
    const [from, to] = this.ends;
    return (
      <div class="showing">
        <div class="picks">
          <Picker {...options} label="From" value={from} withBefore changed={this.changed} onPick={(id) => app.go(saying(address, { from: id, to }))} />
          <Picker {...options} label="to" value={to} withBefore={false} changed={this.changed} onPick={(id) => app.go(saying(address, { from, to: id }))} />
        </div>
        {this.answer(({ diff, is_text: isText }) => {
          if (!isText) return <p class="faint">One of them is no text.</p>;
          if (diff.hunks.length === 0) return <p class="faint">Both are the same.</p>;
          return <DiffBlock diff={diff} place={{ folds: this.folds, key: this.key }} />;
        })}
        {this.state.shown === null && !this.key && <p class="faint">{plural(options.groups.length, "session")}, but no version to compare.</p>}
      </div>
    );
  }
}

function textOf(path: string, id: string): Promise<FileVersion> {
  const { session, turn } = parseId(id) ?? { session: "", turn: 0 };
  return ask<FileVersion>(`/api/sessions/${encodeURIComponent(session)}/file`, { path, turn });
}
