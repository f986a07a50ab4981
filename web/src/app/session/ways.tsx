// Which way through the session is shown: all of it, what the model sees, or a branch that was left.

import { Component } from "preact";
import { clock, day, plural } from "../../text";
import { saying, type Address } from "../address";
import type { Tree } from "../api";
import { Link } from "../pieces";
import type { AppHost } from "../view";
import { SEEN, type Story } from "./story";

interface WaysOptions {
  story: Story;
  address: Address;
  app: AppHost;
}

interface Leaf {
  uuid: string | null;
  active: boolean;
  why: string;
  turns?: number | null;
  ended?: string | null;
}

/** Whether there is more than one way. */
export function hasWays({ session: { head }, agent }: Story): boolean {
  return !agent && ((head.branches ?? 0) > 1 || (head.compactions ?? 0) > 0);
}

export function wayName(branch: string): string {
  return branch === "" ? "Everything" : branch === SEEN ? "What the model sees" : /^\d+$/.test(branch) ? `Branch ${branch}` : "A branch";
}

export class Ways extends Component<WaysOptions, { tree: Tree | null; error: boolean }> {
  override state: { tree: Tree | null; error: boolean } = { tree: null, error: false };

  override componentDidMount(): void {
    this.props.story.tree().then((tree) => this.setState({ tree }), () => this.setState({ error: true }));
  }

  render({ address, app, story }: WaysOptions, { tree, error }: { tree: Tree | null; error: boolean }) {
    const now = address.said["branch"] ?? "";
    const row = (branch: string, name: string, what: string) => (
      <Link to={{ ...saying(address, { branch }), place: "" }} app={app} class="menurow" current={branch === now}>
        <span>{name}</span><span class="menuwhat">{what}</span>
      </Link>
    );
    const branches = (tree?.branches ?? []).map((one) => tree?.leaves.find((leaf) => leaf.uuid === one.leaf) as Leaf | undefined);
    const compactions = story.session.head.compactions ?? 0;
    return (
      <div class="menugroup">
        {row("", "Everything", "left turns too")}
        {row(SEEN, "What the model sees", compactions ? "the active branch, since the last compaction" : "the active branch")}
        {branches.map((leaf, n) => row(String(n + 1), `Branch ${n + 1}`, leaf ? said(leaf) : "was left"))}
        {!tree && !error && <p class="menunote">Looking for branches …</p>}
        {error && <p class="menunote">The branches could not be read.</p>}
        {tree && branches.length === 0 && <p class="menunote">There are no other branches.</p>}
      </div>
    );
  }
}

function said({ turns, ended }: Leaf): string {
  const time = ended ? Date.parse(ended) : NaN;
  return [turns ? plural(turns, "turn") : "", Number.isNaN(time) ? "" : `until ${day(time)} ${clock(time)}`].filter(Boolean).join(", ");
}
