// Edits that something broke off: each can be taken back.

import { Component } from "preact";
import { plural } from "../../text";
import { visible } from "../../visible";
import { UndoButton } from "./undo";
import type { AppHost } from "../view";

export class Interrupted extends Component<{ ids: readonly string[]; app: AppHost; onDone: () => void }> {
  render({ ids, app, onDone }: { ids: readonly string[]; app: AppHost; onDone: () => void }) {
    return (
      <section aria-labelledby="interrupted-title">
        <h2 id="interrupted-title">{plural(ids.length, "edit")} broken off</h2>
        <p class="faint smallwords">Something ended clew in the middle of them. The next edit puts them right by itself; taking one back does so now.</p>
        <ul class="leaving">
          {ids.map((id) => <li key={id}><code>{visible(id)}</code><UndoButton id={id} app={app} onDone={onDone} /></li>)}
        </ul>
      </section>
    );
  }
}
