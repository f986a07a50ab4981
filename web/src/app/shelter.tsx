// A view that throws shows its failure; the frame and the other views go on.

import { Component, type ComponentChildren } from "preact";
import { Failed } from "./pieces";
import type { AppHost } from "./view";

interface ShelterOptions {
  app: AppHost;
  /** What is sheltered: another view is given another chance. */
  of: string;
  children: ComponentChildren;
}

interface ShelterState {
  error: unknown;
  of: string;
}

export class Shelter extends Component<ShelterOptions, ShelterState> {
  override state: ShelterState = { error: null, of: this.props.of };

  static override getDerivedStateFromError(error: unknown) {
    return { error: error ?? new Error("The view failed.") };
  }

  static override getDerivedStateFromProps({ of }: ShelterOptions, state: ShelterState) {
    return of === state.of ? null : { error: null, of };
  }

  render({ app, children }: ShelterOptions, { error }: ShelterState) {
    if (error === null) return children;
    return (
      <main class="page">
        <h1>This view could not be drawn</h1>
        <p class="lead">That is a mistake in clew. Everything else works.</p>
        <Failed error={error} app={app} again={() => this.setState({ error: null })} />
      </main>
    );
  }
}
