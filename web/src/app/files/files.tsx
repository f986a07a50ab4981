// What sessions did to files: the tree of all of them, and one file with its versions, its lines and who wrote them.

import { Component } from "preact";
import { Changes } from "../../diff";
import { count, plural } from "../../text";
import { Isolated, visible, visibleText } from "../../visible";
import { at, saying } from "../address";
import { Answer } from "../answer";
import type { FileHistory } from "../api";
import { Choice } from "../choice";
import { events } from "../events";
import { Empty, Failed, Link, Skeleton } from "../pieces";
import type { ViewOptions } from "../view";
import { BlameView } from "./blame";
import { Catalogue } from "./catalogue";
import { FileTree } from "./file_tree";
import { History } from "./history";
import { VersionDiff, VersionText } from "./showing";
import { groupsOf, when, type Change } from "./versions";

const TABS = ["history", "diff", "text", "blame"] as const;
type Tab = (typeof TABS)[number];
const WORDS: Record<Tab, string> = { history: "History", diff: "Diff", text: "Text", blame: "Blame" };

export class Files extends Component<ViewOptions, { tick: number }> {
  override state = { tick: 0 };
  private readonly changed = () => this.setState(({ tick }) => ({ tick: tick + 1 }));
  private readonly catalogue = new Catalogue(this.changed);
  private readonly history = new Answer<FileHistory, string>(this.changed, true);
  private silence: (() => void) | null = null;
  private grouped: { of: FileHistory; made: ReturnType<typeof groupsOf> } | null = null;

  override componentDidMount(): void {
    this.want();
    this.silence = events.listen(({ kind }) => {
      if (kind !== "refresh") return;
      this.catalogue.again();
      this.history.again();
    });
  }

  override componentDidUpdate(): void {
    this.want();
    this.name();
  }

  override componentWillUnmount(): void {
    this.silence?.();
    this.catalogue.end();
    this.history.end();
  }

  private get path(): string | null {
    return this.props.address.said.path ?? null;
  }

  private name(): void {
    this.props.app.title(this.path ? visibleText(nameOf(this.path)) : "Files");
  }

  private want(): void {
    this.catalogue.want(this.props.address.said.part ?? "");
    if (this.path) this.history.want("/api/files/history", { path: this.path }, this.path);
    else this.history.clear();
  }

  render({ address, app }: ViewOptions) {
    const { catalogue, path } = this;
    const part = address.said.part ?? "";
    const shown = catalogue.fitting(part);
    return (
      <main class={path ? "page files has-file" : "page files"}>
        <div class="filelist">
          <div class="viewhead">
            <h1>Files</h1>
            {catalogue.isReady && <span class="faint">{part ? `${count(shown.length)} of ${plural(catalogue.total, "file")}` : plural(catalogue.total, "file")}{shown.length < catalogue.total && !part ? `, ${count(shown.length)} shown: narrow them` : ""}</span>}
          </div>
          <input class="field" type="search" placeholder="A part of the path" aria-label="Show files with this in their path" value={part}
            onInput={(event) => app.go(saying(address, { part: event.currentTarget.value }), { replace: true })} />
          {catalogue.error ? <Failed error={catalogue.error} again={() => catalogue.again()} /> : null}
          {!catalogue.isReady && !catalogue.error && (catalogue.waiting ? <p class="indexing" role="status">{catalogue.waiting}</p> : <Skeleton rows={8} />)}
          {catalogue.isReady && shown.length > 0 && <FileTree files={shown} path={path} isFiltered={part !== ""} to={(file) => at("files", { part, path: file, tab: address.said.tab === "blame" ? "blame" : undefined })} app={app} />}
          {catalogue.isReady && shown.length === 0 && (part
            ? <Empty><p>No path has “{visible(part)}” in it.</p><button type="button" class="button" onClick={() => app.go(saying(address, { part: undefined }))}>Show all files</button></Empty>
            : <Empty><p>No session has changed a file yet.</p></Empty>)}
          {catalogue.notes.map((note) => <p key={note} class="smallwords warn">{visible(note)}</p>)}
        </div>
        <div class="filepage">{path ? this.file(path) : catalogue.isReady && catalogue.total > 0 && <p class="faint hint">Choose a file to see which turns changed it, how, and who wrote each line.</p>}</div>
      </main>
    );
  }

  private file(path: string) {
    const { address, app } = this.props;
    const tab = TABS.find((one) => one === address.said.tab) ?? "history";
    const known = this.catalogue.files.find((file) => file.path === path);
    return (
      <section aria-labelledby="file-title">
        <Link class="backlink" to={saying(address, { path: undefined, tab: undefined, from: undefined, to: undefined })} app={app}>All files</Link>
        <h2 id="file-title" class="filename"><Isolated text={nameOf(path)} /></h2>
        <p class="filefacts">
          <bdi class="mono">{visible(path)}</bdi>
          {known && <><span class="nobreak">{plural(known.changes, "change")} in {plural(known.sessions, "session")}</span><Changes added={known.added ?? 0} removed={known.removed ?? 0} /><span class="nobreak">{when(known.changed)}</span></>}
        </p>
        <Choice label="What of the file" app={app} options={TABS.map((one) => ({ word: WORDS[one], isChosen: one === tab, to: saying(address, { tab: one === "history" ? undefined : one }) }))} />
        {tab === "blame" ? <BlameView path={path} app={app} /> : this.versions(path, tab)}
      </section>
    );
  }

  private versions(path: string, tab: Tab) {
    const { address, app } = this.props;
    const { value, question, error, waiting } = this.history;
    if (error) return <Failed error={error} again={() => this.history.again()} />;
    if (!value || question !== path) return waiting ? <p class="indexing" role="status">{waiting}</p> : <Skeleton rows={5} />;
    if (this.grouped?.of !== value) this.grouped = { of: value, made: groupsOf(value.changes as Change[]) };
    const { groups, unplaced } = this.grouped.made;
    if (value.changes.length === 0) return <Empty><p>No session changed this file.</p></Empty>;
    const given = { path, groups, address, app };
    if (tab === "diff") return <VersionDiff key={path} {...given} />;
    if (tab === "text") return <VersionText key={path} {...given} />;
    return <History key={path} {...given} unplaced={unplaced} />;
  }
}

function nameOf(path: string): string {
  return path.split(/[\\/]/).filter(Boolean).pop() ?? path;
}
