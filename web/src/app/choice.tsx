// A few things of which one is chosen; each is an address of its own.

import type { Address } from "./address";
import { Link } from "./pieces";
import type { AppHost } from "./view";

export interface Option {
  word: string;
  to: Address;
  isChosen: boolean;
}

export function Choice({ label, options, app }: { label: string; options: Option[]; app: AppHost }) {
  return (
    <nav class="choice" aria-label={label}>
      {options.map(({ word, to, isChosen }) => <Link key={word} to={to} app={app} current={isChosen}>{word}</Link>)}
    </nav>
  );
}
