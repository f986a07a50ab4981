// One edit of one session: what is wished, what that would do, and only then doing it.

import { Component } from "preact";
import { Icon } from "../../icons";
import { Isolated, visible } from "../../visible";
import { at, saying, type Address } from "../address";
import type { Edit as Outcome, Index } from "../api";
import { ask, change, Failure } from "../ask";
import { Failed, Link, Skeleton } from "../pieces";
import { titles } from "../titles";
import type { AppHost } from "../view";
import { Confirm } from "./confirm";
import { Form } from "./form";
import { isNothing, PlanView } from "./plan";
import { Preview } from "./preview";
import { Problems } from "./problems";
import { UndoButton } from "./undo";
import { bodyOf, mistake, saidOf, wishesOf, type Edit, type EditKind, type Wishes } from "./wishes";

interface EditOptions {
  edit: Edit;
  address: Address;
  app: AppHost;
}

interface EditState {
  tick: number;
  patterns: string;
  isConfirming: boolean;
  /** Why a preview was refused that is wanted all the same. */
  refusal: string | null;
  done: Outcome | null;
  isUndone: boolean;
  /** Whether the server changes nothing; null until it has said so. */
  isReadOnly: boolean | null;
}

const WORDS: Record<EditKind, [string, string]> = {
  repair: ["Repair", "Mends what keeps a session from being resumed whole. What is taken out is kept aside."],
  trim: ["Trim", "Takes calls and what they gave back, or whole turns, out of what is sent to the model."],
  redact: ["Redact", "Takes passwords, keys and tokens out of a session and what belongs to it."],
};

export class EditView extends Component<EditOptions, EditState> {
  override state: EditState = { tick: 0, patterns: "", isConfirming: false, refusal: null, done: null, isUndone: false, isReadOnly: null };
  private isGone = false;
  private readonly changed = () => { if (!this.isGone) this.setState(({ tick }) => ({ tick: tick + 1 })); };
  private readonly preview = new Preview(`/api/edits/${this.props.edit.kind}`, this.changed);
  private doneHead: HTMLElement | null = null;

  override componentDidMount(): void {
    this.want();
    // A server that changes nothing plans nothing either: it is not asked to.
    const known = (isReadOnly: boolean) => { if (!this.isGone) this.setState({ isReadOnly }); };
    void ask<Index>("/api/index").then(({ read_only: is }) => known(is), () => known(false));
  }

  override componentDidUpdate(_: EditOptions, before: EditState): void {
    this.want();
    this.props.app.title(WORDS[this.props.edit.kind][0]);
    if (this.state.done && !before.done) this.doneHead?.focus();
  }

  override componentWillUnmount(): void {
    this.isGone = true;
    this.preview.end();
  }

  private get wishes(): Wishes {
    return wishesOf(this.props.address, this.props.edit.kind, this.state.patterns);
  }

  private get body(): Record<string, unknown> {
    return { ...bodyOf(this.props.edit, this.wishes), ...(this.state.refusal !== null && { force: true }) };
  }

  private get isDone(): boolean {
    return this.props.address.said.journal !== undefined;
  }

  private want(): void {
    const { edit } = this.props;
    titles.want([edit.session], this.changed);
    if (this.state.isReadOnly !== false || this.isDone) return;
    if (mistake(edit.kind, this.wishes)) this.preview.stop();
    else this.preview.want(this.body);
  }

  private wish(changes: Partial<Wishes>, isTyped: boolean): void {
    const { address, app } = this.props;
    if (changes.patterns !== undefined) {
      this.setState({ patterns: changes.patterns });
      return;
    }
    // What was refused in place may be no matter for a new session.
    if (changes.place !== undefined) this.setState({ refusal: null });
    app.go(saying(address, saidOf({ ...this.wishes, ...changes })), { replace: isTyped });
  }

  private async apply(force: boolean): Promise<void> {
    const { edit, address, app } = this.props;
    const done = await change<Outcome>(`/api/edits/${edit.kind}`, { ...this.body, force, dry_run: false });
    this.setState({ done, isConfirming: false });
    app.say("Done.");
    if (done.journal) app.go(saying(address, { journal: done.journal, result: done.key ?? done.result?.id }));
  }

  render({ edit, address, app }: EditOptions, { isConfirming, refusal, done, isReadOnly }: EditState) {
    const [word, about] = WORDS[edit.kind];
    const named = titles.of(edit.session);
    const { preview, wishes } = this;
    const wrong = mistake(edit.kind, wishes);
    const isOld = !preview.isOf(this.body);
    return (
      <main class="page doctor edit">
        <Link class="backlink" to={at("doctor", edit.kind === "repair" ? { open: edit.session } : {})} app={app}>Doctor</Link>
        <div class="viewhead"><h1>{word}</h1><span class="editof"><Link to={at("session", { session: edit.session })} app={app}><Isolated text={named?.title || edit.session} /></Link>{named && <span class="faint"> <Isolated text={named.project} /></span>}</span></div>
        <p class="faint about">{about}</p>
        {this.isDone ? this.finished(address, done) : isReadOnly ? <ReadOnly edit={edit} app={app} /> : (
          <div class="editcolumns">
            <Form kind={edit.kind} wishes={wishes} isOff={false} onWish={(changes, isTyped) => this.wish(changes, isTyped)} />
            <section class="previewing" aria-labelledby="preview-title">
              <h2 id="preview-title">Preview</h2>
              {wrong && <p class="warn" role="status">{wrong}</p>}
              {!wrong && preview.error ? <Refused error={preview.error} again={() => preview.again()} force={preview.isRefused && refusal === null ? (why) => this.setState({ refusal: why }) : null} /> : null}
              {!wrong && !preview.error && (preview.outcome ? <PlanView plan={preview.outcome} isOld={isOld} /> : <Skeleton rows={5} />)}
              {preview.outcome && !wrong && !preview.error && (
                <div class="acts">
                  <button type="button" class={wishes.place ? "button is-danger" : "button is-main"} disabled={isOld || isNothing(preview.outcome)} onClick={() => this.setState({ isConfirming: true })}>
                    {wishes.place ? `${word} this session …` : "Make a new session …"}
                  </button>
                </div>
              )}
            </section>
          </div>
        )}
        {isConfirming && preview.outcome && (
          <Confirm kind={edit.kind} plan={preview.outcome} inPlace={wishes.place} extra={refusal === null ? [] : [refusal]}
            apply={(force) => this.apply(force)} onClose={() => this.setState({ isConfirming: false })} />
        )}
      </main>
    );
  }

  private finished(address: Address, done: Outcome | null) {
    const { app, edit } = this.props;
    const { journal = "", result } = address.said;
    const isNew = result !== undefined && result !== edit.session;
    const { isUndone } = this.state;
    return (
      <section class="finished" aria-labelledby="done-title">
        <h2 id="done-title" tabIndex={-1} ref={(element) => { this.doneHead = element; }}>{isUndone ? "Taken back" : <><Icon name="done" /> Done</>}</h2>
        {!isUndone && done && <PlanView plan={{ ...done, refused: [] }} isOld={false} />}
        <div class="acts">
          {result && !(isUndone && isNew) && <Link class="button is-main" to={at("session", { session: result })} app={app}>{isNew ? "Open the new session" : "Open the session"}</Link>}
          <UndoButton id={journal} app={app} onDone={() => this.setState({ isUndone: true })} />
          <Link class="button" to={saying(address, { journal: undefined, result: undefined })} app={app}>Another {edit.kind}</Link>
        </div>
        {this.state.isReadOnly && <p class="faint">This server changes nothing: it was started with <code>--read-only</code>.</p>}
        {!isUndone && <p class="faint smallwords">Later: <code>clew undo {visible(journal)}</code>{done && !isUndone ? <>. Resume it with <code>{visible((done as { resume?: string }).resume ?? "")}</code></> : null}</p>}
      </section>
    );
  }
}

function ReadOnly({ edit, app }: { edit: Edit; app: AppHost }) {
  return (
    <>
      <p class="notice is-warning"><Icon name="warning" /><span class="noticetext">This server changes nothing and plans no edits: it was started with <code>--read-only</code>. Start <code>clew web</code> without it, or use <code>clew {edit.kind} {visible(edit.session)} --dry-run</code>.</span></p>
      <div class="acts"><button type="button" class="button" disabled>Make a new session …</button></div>
      {edit.kind === "repair" && <Problems session={edit.session} isPlain app={app} />}
    </>
  );
}

function Refused({ error, again, force }: { error: unknown; again: () => void; force: ((why: string) => void) | null }) {
  if (!(error instanceof Failure) || error.status === 0) return <Failed error={error} again={again} />;
  if (error.status === 400) return <p class="warn" role="status">{visible(error.message)}</p>;
  return (
    <div class="refusal" role="alert">
      <p><strong>{visible(error.message)}</strong></p>
      {error.hint && error.code !== "refused" && <p>{visible(error.hint)}</p>}
      <div class="acts"><button type="button" class="button" onClick={again}>Try again</button>{force && <button type="button" class="button" onClick={() => force(error.message)}>Preview it all the same</button>}</div>
    </div>
  );
}
