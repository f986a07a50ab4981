// The last question before something is written. What would be lost is said, and has to be taken on by hand.

import { Component } from "preact";
import { count, plural } from "../../text";
import { visible } from "../../visible";
import type { Edit as Outcome } from "../api";
import { Failure } from "../ask";
import { amount, Losses } from "./plan";
import type { EditKind } from "./wishes";

interface ConfirmOptions {
  kind: EditKind;
  plan: Outcome;
  inPlace: boolean;
  /** Losses that stand in the way although the plan did not name them. */
  extra: readonly string[];
  apply: (force: boolean) => Promise<void>;
  onClose: () => void;
}

interface ConfirmState {
  isTakenOn: boolean;
  isWorking: boolean;
  error: unknown;
}

const VERBS: Record<EditKind, string> = { repair: "Repair", trim: "Trim", redact: "Redact" };

export class Confirm extends Component<ConfirmOptions, ConfirmState> {
  override state: ConfirmState = { isTakenOn: false, isWorking: false, error: null };
  private dialog: HTMLDialogElement | null = null;
  private cancel: HTMLButtonElement | null = null;

  override componentDidMount(): void {
    this.dialog?.showModal();
    this.cancel?.focus();
  }

  private async apply(): Promise<void> {
    if (this.state.isWorking) return;
    const { isTakenOn } = this.state;
    this.setState({ isWorking: true, error: null });
    try {
      await this.props.apply(isTakenOn);
    } catch (error) {
      this.setState({ isWorking: false, isTakenOn: false, error });
    }
  }

  render({ kind, plan, inPlace, extra, onClose }: ConfirmOptions, { isTakenOn, isWorking, error }: ConfirmState) {
    const isRefused = error instanceof Failure && error.status === 409 && error.code === "refused";
    const losses = [...new Set([...plan.refused, ...extra, ...(isRefused ? [error.message] : [])])];
    return (
      <dialog class="help confirm" aria-labelledby="confirm-title" ref={(element) => { this.dialog = element; }} onClose={onClose}>
        <div class="helpbody">
          <h2 id="confirm-title">{inPlace ? `${VERBS[kind]} this session itself?` : `${VERBS[kind]} into a new session?`}</h2>
          <p>{plural(plan.patched, "line")} changed, {count(plan.dropped)} left out{plan.added > 0 ? `, ${count(plan.added)} added` : ""}; the context goes from {amount(plan.context_tokens_before)} to {amount(plan.context_tokens_after)} tokens.</p>
          <p class="faint">{inPlace ? "The journal keeps the file as it is now; Undo puts it back." : "This session stays as it is; Undo takes the new one away."}</p>
          <Losses losses={losses} />
          {losses.length > 0 && <label class="check"><input type="checkbox" checked={isTakenOn} disabled={isWorking} onChange={(event) => this.setState({ isTakenOn: event.currentTarget.checked })} /><span>Do it all the same; I take on this loss.</span></label>}
          {error && !isRefused ? <p class="err" role="alert">{error instanceof Error ? visible(error.message) : "It could not be done."}{error instanceof Failure && error.hint ? ` ${error.hint}` : ""}</p> : null}
          <div class="acts">
            <button type="button" class="button" ref={(element) => { this.cancel = element; }} disabled={isWorking} onClick={() => this.dialog?.close()}>Cancel</button>
            <button type="button" class={inPlace || losses.length > 0 ? "button is-danger" : "button is-main"} disabled={isWorking || (losses.length > 0 && !isTakenOn)} onClick={() => void this.apply()}>
              {isWorking ? "Writing …" : inPlace ? `${VERBS[kind]} this session` : "Make the new session"}
            </button>
          </div>
        </div>
      </dialog>
    );
  }
}
