// The touched files as a tree: folders with nothing but one folder in them are one row, as far as they go.

import type { Files } from "../api";

export type FileRow = Files["files"][number];

export interface Folder {
  kind: "folder";
  /** The whole path, which is its key. */
  path: string;
  /** What is shown: the part below the folder above. */
  name: string;
  inside: Node[];
  added: number;
  removed: number;
  files: number;
}

export interface Leaf {
  kind: "file";
  path: string;
  name: string;
  file: FileRow;
}

export type Node = Folder | Leaf;

export interface TreeRow {
  node: Node;
  depth: number;
  isOpen: boolean;
  /** Which one of its folder it is, from 1, and of how many. */
  place: number;
  of: number;
}

interface Making {
  name: string;
  path: string;
  folders: Map<string, Making>;
  files: Leaf[];
}

/** Names between the separators of either kind of system, each with the separator before it. */
function steps(path: string): string[] {
  return path.match(/[\\/]*[^\\/]+/g) ?? [path];
}

export function treeOf(files: readonly FileRow[]): Node[] {
  const top: Making = { name: "", path: "", folders: new Map(), files: [] };
  for (const file of files) {
    const names = steps(file.path);
    let at = top;
    let path = "";
    for (const name of names.slice(0, -1)) {
      path += name;
      let next = at.folders.get(name);
      if (!next) {
        next = { name, path, folders: new Map(), files: [] };
        at.folders.set(name, next);
      }
      at = next;
    }
    const last = names[names.length - 1] ?? file.path;
    at.files.push({ kind: "file", path: file.path, name: at === top ? last : last.replace(/^[\\/]+/, "") || last, file });
  }
  return made(top);
}

function made(making: Making): Node[] {
  const folders = [...making.folders.values()].map((one) => folder(one, making.path === ""));
  return [...folders.sort(byName), ...making.files.sort(byName)];
}

function folder(making: Making, isTop: boolean): Folder {
  let at = making;
  let name = isTop ? making.name : making.name.replace(/^[\\/]+/, "");
  while (at.files.length === 0 && at.folders.size === 1) {
    at = [...at.folders.values()][0] as Making;
    name += at.name;
  }
  const inside = made(at);
  let [added, removed, files] = [0, 0, 0];
  for (const node of inside) {
    added += node.kind === "folder" ? node.added : (node.file.added ?? 0);
    removed += node.kind === "folder" ? node.removed : (node.file.removed ?? 0);
    files += node.kind === "folder" ? node.files : 1;
  }
  return { kind: "folder", path: at.path, name, inside, added, removed, files };
}

function byName(a: Node, b: Node): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

/** The rows that are seen, with the folders open that are said to be. */
export function rowsOf(nodes: readonly Node[], isOpen: (folder: Folder) => boolean): TreeRow[] {
  const rows: TreeRow[] = [];
  const add = (inside: readonly Node[], depth: number) => {
    inside.forEach((node, at) => {
      const open = node.kind === "folder" && isOpen(node);
      rows.push({ node, depth, isOpen: open, place: at + 1, of: inside.length });
      if (open) add((node as Folder).inside, depth + 1);
    });
  };
  add(nodes, 0);
  return rows;
}

/** The folders on the way to a file. */
export function above(nodes: readonly Node[], path: string): string[] {
  for (const node of nodes) {
    if (node.kind === "folder" && path.startsWith(node.path)) {
      const found = node.inside.some((one) => one.path === path) ? [] : above(node.inside, path);
      if (found.length > 0 || node.inside.some((one) => one.path === path)) return [node.path, ...found];
    }
  }
  return [];
}
