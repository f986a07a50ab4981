// What else is known of a session, and what else can be done with it.

import type { ComponentChildren } from "preact";
import { CostFact, NameList, when, WorkFact } from "../../facts";
import type { Head } from "../../parts";
import { bytes, count, plural, zone } from "../../text";
import { Isolated } from "../../visible";
import { at } from "../address";
import { Link } from "../pieces";
import type { AppHost } from "../view";
import type { Story } from "./story";

interface MoreOptions {
  story: Story;
  app: AppHost;
  onCopyResume: () => void;
  onCopyMarkdown: () => void;
  onCopyLink: () => void;
}

export function MoreMenu({ story, app, onCopyResume, onCopyMarkdown, onCopyLink }: MoreOptions) {
  const { key } = story;
  return (
    <>
      {!story.agent && (
        <div class="menugroup">
          <button type="button" class="menurow" onClick={onCopyResume}>Copy resume line <kbd>r</kbd></button>
          <button type="button" class="menurow" onClick={onCopyMarkdown}>Copy as Markdown</button>
          <button type="button" class="menurow" onClick={onCopyLink}>Copy link to this place <kbd>y</kbd></button>
        </div>
      )}
      {!story.agent && (
        <div class="menugroup">
          {(["trim", "redact", "repair"] as const).map((edit) => (
            <Link to={at("doctor", { session: key, edit })} app={app} class="menurow">{EDITS[edit]}</Link>
          ))}
        </div>
      )}
      <SessionFacts story={story} />
    </>
  );
}

const EDITS = { trim: "Trim …", redact: "Redact …", repair: "Repair …" } as const;

function SessionFacts({ story: { session } }: { story: Story }) {
  const head: Head = session.head;
  const rows: [string, ComponentChildren][] = [];
  const say = (name: string, value: ComponentChildren) => value && rows.push([name, value]);
  const others = (head.session_ids ?? []).filter((id) => id !== session.id);
  const time = when(head.started, head.ended);
  say("Id", <Isolated class="mono" text={session.agent ?? session.id} />);
  say("Also named", others.length > 0 && <NameList items={others} />);
  say("Slug", head.slug && <Isolated class="mono" text={head.slug} />);
  say("Project", head.project && <Isolated class="mono" text={head.project} />);
  say("Branch", head.branch && <Isolated class="mono" text={head.branch} />);
  say("When", time && <>{time} <span class="faint">{zone()}</span></>);
  say("Work", <WorkFact head={head} />);
  say("Cost", <CostFact head={head} />);
  say("Models", (head.models ?? []).length > 0 && <NameList items={head.models ?? []} />);
  say("Client", (head.versions ?? []).length > 0 && <NameList items={head.versions ?? []} />);
  say("Branches", (head.branches ?? 0) > 1 && count(head.branches ?? 0));
  say("File", head.lines && <>{plural(head.lines, "line")}, {bytes(head.bytes ?? 0)}</>);
  say("Path", <Isolated class="mono" text={session.path} />);
  return <dl class="facts">{rows.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>;
}
