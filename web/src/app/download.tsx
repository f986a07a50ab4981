// Files that the server makes, to be kept.

import type { ComponentChildren } from "preact";
import { path, type Said } from "./ask";

/** A link to what the server's API gives as a file; `place` is always one of ours. */
export function Download({ place, said, class: name = "button", children }: { place: `/api/${string}`; said: Said; class?: string; children: ComponentChildren }) {
  return <a class={name} href={path(place, said)} download>{children}</a>;
}
