// Taking an edit back. Where a file has changed since, that is said, and only a second press does it all the same.

import { Component } from "preact";
import { plural } from "../../text";
import { visible } from "../../visible";
import type { Undone } from "../api";
import { change, Failure } from "../ask";
import type { AppHost } from "../view";

interface UndoOptions {
  id: string;
  app: AppHost;
  onDone: (undone: Undone) => void;
}

interface UndoState {
  isWorking: boolean;
  error: unknown;
  undone: Undone | null;
}

export class UndoButton extends Component<UndoOptions, UndoState> {
  override state: UndoState = { isWorking: false, error: null, undone: null };

  private async undo(force: boolean): Promise<void> {
    if (this.state.isWorking) return;
    this.setState({ isWorking: true, error: null });
    try {
      const undone = await change<Undone>("/api/undo", { id: this.props.id, force });
      this.setState({ isWorking: false, undone });
      this.props.app.say("Taken back.");
      this.props.onDone(undone);
    } catch (error) {
      this.setState({ isWorking: false, error });
    }
  }

  render({ app }: UndoOptions, { isWorking, error, undone }: UndoState) {
    if (undone) {
      return <p role="status">Taken back: {visible(undone.command)}. {undone.trash.length > 0 ? "What it had written is in clew's trash." : `${plural(undone.files.length, "file")} as before.`}</p>;
    }
    const isRefused = error instanceof Failure && error.status === 409;
    return (
      <>
        <button type="button" class="button" disabled={app.isReadOnly || isWorking} onClick={() => void this.undo(false)}>{isWorking ? "Taking back …" : "Undo"}</button>
        {error ? (
          <div class="refusal" role="alert">
            <p>{error instanceof Error ? visible(error.message) : "It cannot be taken back."}</p>
            {isRefused && <button type="button" class="button is-danger" disabled={isWorking} onClick={() => void this.undo(true)}>Undo all the same; what changed since goes to the trash</button>}
          </div>
        ) : null}
      </>
    );
  }
}
