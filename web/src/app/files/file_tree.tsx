// The tree at the side: folders fold, files are links, the arrow keys go through all of it.

import { Component } from "preact";
import { Changes } from "../../diff";
import { Icon } from "../../icons";
import { plural } from "../../text";
import { visible, visibleText } from "../../visible";
import { writeAddress, type Address } from "../address";
import type { AppHost } from "../view";
import { Rolled } from "../rolled";
import { above, rowsOf, treeOf, type FileRow, type Folder, type Node, type TreeRow } from "./tree";

interface TreeOptions {
  files: readonly FileRow[];
  /** The file that is open. */
  path: string | null;
  /** Whether a filter is on: then everything is open. */
  isFiltered: boolean;
  to: (path: string) => Address;
  app: AppHost;
}

interface TreeState {
  at: number;
  tick: number;
}

const FEW = 40; // so many files need no folding
const ROW = 28;
const WIDE_ROW = 44; // for a finger

export class FileTree extends Component<TreeOptions, TreeState> {
  override state: TreeState = { at: 0, tick: 0 };
  private readonly turned = new Map<string, boolean>();
  private nodes: Node[] = [];
  private made: readonly FileRow[] | null = null;
  private readonly narrow = matchMedia("(max-width: 720px)");
  private isMoving = false;

  override componentDidMount(): void {
    this.narrow.addEventListener("change", this.redraw);
  }

  override componentWillUnmount(): void {
    this.narrow.removeEventListener("change", this.redraw);
  }

  private readonly redraw = () => this.setState(({ tick }) => ({ tick: tick + 1 }));

  private isOpen(folder: Folder, onTheWay: Set<string>): boolean {
    const { files, isFiltered } = this.props;
    return this.turned.get(folder.path) ?? (isFiltered || files.length <= FEW || onTheWay.has(folder.path) || (this.nodes.length === 1 && this.nodes[0] === folder));
  }

  private rows(): TreeRow[] {
    const { files, path } = this.props;
    if (files !== this.made) {
      this.nodes = treeOf(files);
      this.made = files;
    }
    const onTheWay = new Set(path ? above(this.nodes, path) : []);
    return rowsOf(this.nodes, (folder) => this.isOpen(folder, onTheWay));
  }

  private turn(row: TreeRow, at: number): void {
    this.turned.set(row.node.path, !row.isOpen);
    this.setState({ at });
  }

  private press(event: KeyboardEvent, rows: TreeRow[], at: number): void {
    const row = rows[at];
    if (!row) return;
    let to: number | null = null;
    if (event.key === "ArrowDown" || event.key === "j") to = at + 1;
    else if (event.key === "ArrowUp" || event.key === "k") to = at - 1;
    else if (event.key === "Home") to = 0;
    else if (event.key === "End") to = rows.length - 1;
    else if (event.key === "ArrowRight" && row.node.kind === "folder") {
      if (row.isOpen) to = at + 1;
      else this.turn(row, at);
    } else if (event.key === "ArrowLeft") {
      if (row.isOpen) this.turn(row, at);
      else for (let n = at - 1; n >= 0 && to === null; n -= 1) if ((rows[n]?.depth ?? 0) < row.depth) to = n;
    } else return;
    event.preventDefault();
    event.stopPropagation();
    if (to === null) return;
    this.isMoving = true;
    this.setState({ at: Math.max(0, Math.min(rows.length - 1, to)) });
  }

  render({ path, to, app }: TreeOptions, { at }: TreeState) {
    const rows = this.rows();
    const now = Math.min(at, rows.length - 1);
    const row = this.narrow.matches ? WIDE_ROW : ROW;
    return (
      <div class="filetree">
        <Rolled count={rows.length} row={row} shown={now} said={{ role: "tree", "aria-label": "Files" }}
          draw={(from, last) => {
            // The keys need one row to come in by, even when theirs is not drawn.
            const entry = now >= from && now < last ? now : from;
            return rows.slice(from, last).map((one, n) => this.row(one, from + n, from + n === entry, rows, path, to, app));
          }} />
      </div>
    );
  }

  private row(row: TreeRow, at: number, isEntry: boolean, rows: TreeRow[], path: string | null, to: TreeOptions["to"], app: AppHost) {
    const { node, depth } = row;
    // The row that the keys moved to may only be drawn when the list has scrolled there.
    const focus = (element: HTMLElement | null) => {
      if (!element || !this.isMoving || at !== this.state.at) return;
      this.isMoving = false;
      element.focus({ preventScroll: true });
    };
    const said = {
      ref: focus,
      role: "treeitem" as const, "aria-level": depth + 1, "aria-posinset": row.place, "aria-setsize": row.of, tabIndex: isEntry ? 0 : -1,
      title: visibleText(node.path), onKeyDown: (event: KeyboardEvent) => this.press(event, rows, at), style: { paddingInlineStart: `${8 + depth * 16}px` },
    };
    if (node.kind === "folder") {
      return (
        <button type="button" key={`d${node.path}`} class="treerow is-folder" {...said} aria-expanded={row.isOpen} onClick={() => this.turn(row, at)}>
          <Icon name="chevron" /><bdi class="treename">{visible(node.name)}</bdi>
          {!row.isOpen && <span class="treecount">{plural(node.files, "file")}</span>}<Changes added={node.added} removed={node.removed} />
        </button>
      );
    }
    const { file } = node;
    const address = writeAddress(to(node.path));
    return (
      <a key={`f${node.path}`} class="treerow" {...said} aria-selected={node.path === path} href={address} onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        this.setState({ at });
        app.go(to(node.path));
      }}>
        <span class="treespace" /><bdi class="treename">{visible(node.name)}</bdi><Changes added={file.added ?? 0} removed={file.removed ?? 0} />
      </a>
    );
  }
}
