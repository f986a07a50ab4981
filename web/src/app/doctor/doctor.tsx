// The health of the store: totals that add up, what is wrong with which session, what the client deletes next.

import { Component, type ComponentChildren } from "preact";
import { Icon } from "../../icons";
import { count, plural } from "../../text";
import { Isolated, visible } from "../../visible";
import { at } from "../address";
import { Answer } from "../answer";
import type { Doctor as DoctorAnswer } from "../api";
import { events } from "../events";
import { Empty, Failed, Link, Skeleton } from "../pieces";
import { titles } from "../titles";
import type { AppHost, ViewOptions } from "../view";
import { EditView } from "./edit";
import { Interrupted } from "./interrupted";
import { Problems } from "./problems";
import { editNamed } from "./wishes";

type Found = DoctorAnswer & {
  looked_in?: string[];
  cleanup?: { root: string; days: number | null }[];
};
type Patient = DoctorAnswer["patients"][number] & { unreadable?: string | null };
type Leaving = DoctorAnswer["deleted_next"][number] & { archived?: boolean };

const SHOWN = 50;

export class Doctor extends Component<ViewOptions, { tick: number; isAll: boolean }> {
  override state = { tick: 0, isAll: false };
  private readonly changed = () => this.setState(({ tick }) => ({ tick: tick + 1 }));
  private silence: (() => void) | null = null;
  private readonly answer = new Answer<Found>(this.changed);

  override componentDidMount(): void {
    this.want();
    this.silence = events.listen(({ kind }) => {
      if (kind === "refresh") this.answer.again();
    });
  }

  override componentDidUpdate(before: ViewOptions): void {
    // Whoever comes back from an edit sees what has become of it.
    if (before.address.said.edit && !this.props.address.said.edit) {
      this.answer.again();
      this.props.app.title("Doctor");
    }
    this.want();
  }

  override componentWillUnmount(): void {
    this.silence?.();
    this.answer.end();
  }

  private want(): void {
    if (!editNamed(this.props.address)) this.answer.want("/api/doctor", {}, null);
  }

  render({ address, app }: ViewOptions) {
    const edit = editNamed(address);
    if (edit) return <EditView key={`${edit.kind}\0${edit.session}`} edit={edit} address={address} app={app} />;
    const { value, error, waiting } = this.answer;
    return (
      <main class="page doctor">
        <div class="viewhead"><h1>Doctor</h1></div>
        {error ? <Failed error={error} again={() => this.answer.again()} /> : null}
        {!value && !error && (waiting ? <p class="indexing" role="status">{waiting}</p> : <Skeleton rows={6} />)}
        {value && this.told(value)}
      </main>
    );
  }

  private told(found: Found) {
    const { address, app } = this.props;
    const patients = found.patients as Patient[];
    const shown = this.state.isAll ? patients : patients.slice(0, SHOWN);
    titles.want([...shown.map((one) => one.key ?? one.id), ...found.deleted_next.map((one) => one.id)], this.changed);
    if (found.files === 0) return <Empty><p>There are no session files{found.looked_in?.length ? <> in {found.looked_in.map((folder, n) => <>{n > 0 && ", "}<Isolated class="mono" text={folder} /></>)}</> : null}.</p></Empty>;
    return (
      <>
        <Totals found={found} />
        {found.interrupted_edits.length > 0 && <Interrupted ids={found.interrupted_edits} app={app} onDone={() => this.answer.again()} />}
        <section aria-labelledby="patients-title">
          <h2 id="patients-title">{patients.length === 0 ? "No problems" : `Problems in ${plural(patients.length, "session")}`}</h2>
          {patients.length === 0 && <p class="faint">Every line of {plural(found.files, "file")} was read, and every session can be resumed.</p>}
          <ul class="patients">
            {shown.map((patient) => <PatientRow key={patient.key ?? patient.id} patient={patient} isOpen={address.said.open === (patient.key ?? patient.id)} app={app} />)}
          </ul>
          {patients.length > SHOWN && <button type="button" class="more" aria-expanded={this.state.isAll} onClick={() => this.setState({ isAll: !this.state.isAll })}>{this.state.isAll ? `Show the first ${SHOWN}` : `Show all ${count(patients.length)} sessions`}</button>}
        </section>
        <Deletions found={found} app={app} />
      </>
    );
  }
}

/** files = sessions + sub-agents + empty + unreadable. */
function Totals({ found }: { found: Found }) {
  const parts: [number, ComponentChildren][] = [
    [found.sessions, found.sessions === 1 ? "session" : "sessions"],
    [found.agents, found.agents === 1 ? "sub-agent" : "sub-agents"],
    [found.empty, "empty"],
    [found.unreadable, "unreadable"],
  ];
  return (
    <p class="totals">
      <span class="total"><strong>{count(found.files)}</strong> {found.files === 1 ? "file" : "files"}</span>
      {parts.map(([n, word], at) => <span key={at} class="total"><span class="faint">{at === 0 ? "=" : "+"}</span> <strong>{count(n)}</strong> {word}</span>)}
    </p>
  );
}

function PatientRow({ patient, isOpen, app }: { patient: Patient; isOpen: boolean; app: AppHost }) {
  const key = patient.key ?? patient.id;
  const named = titles.of(key);
  const all = patient.problems.reduce((sum, one) => sum + one.count, 0);
  return (
    <li class="patient">
      <button type="button" class="patientrow" aria-expanded={isOpen} onClick={() => app.go(at("doctor", isOpen ? {} : { open: key }))}>
        <Icon name="chevron" />
        <span class="patientname"><Isolated text={named?.title || patient.id} />{named && <span class="faint"><Isolated text={named.project} /></span>}</span>
        <span class={patient.resumable ? "faint" : "err"}>{patient.unreadable ? "cannot be read" : patient.resumable ? "still resumes" : "does not resume"}</span>
        <span class="warn nobreak"><Icon name="warning" /> {patient.unreadable ? "unreadable" : plural(all, "problem")}</span>
      </button>
      {isOpen && (
        <div class="patientbody">
          {patient.unreadable ? <p>{visible(patient.unreadable)}</p> : null}
          {patient.key ? <Problems session={patient.key} needs={patient.needs} app={app} /> : <p class="faint">{visible(patient.needs ?? "")}</p>}
        </div>
      )}
    </li>
  );
}

function Deletions({ found, app }: { found: Found; app: AppHost }) {
  const leaving = found.deleted_next as Leaving[];
  if (leaving.length === 0) return null;
  const kept = found.cleanup?.filter(({ days }) => typeof days === "number") ?? [];
  return (
    <section aria-labelledby="deleted-title">
      <h2 id="deleted-title">What the client deletes next</h2>
      {kept.length > 0 && <p class="faint smallwords">It keeps sessions for {kept.map(({ days }) => plural(days ?? 0, "day")).join(", ")}. <code>clew archive</code> keeps a copy; <code>cleanupPeriodDays</code> in its settings keeps them longer.</p>}
      <ul class="leaving">
        {leaving.slice(0, SHOWN).map((one) => (
          <li key={one.id}>
            <Link to={at("session", { session: one.id })} app={app}><Isolated text={titles.of(one.id)?.title || one.id} /></Link>
            <span class="faint nobreak">{one.archived ? "a copy is in the archive" : ""}</span>
            <span class={one.days_left <= 0 ? "warn nobreak" : "nobreak"}>{one.days_left <= 0 ? "at its next start" : `in ${plural(Math.ceil(one.days_left), "day")}`}</span>
          </li>
        ))}
      </ul>
      {leaving.length > SHOWN && <p class="faint smallwords">and {count(leaving.length - SHOWN)} more</p>}
    </section>
  );
}
