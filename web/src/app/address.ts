// Where one is in the app. The whole state is in the address, so that Back works and every place can be linked to.

export type ViewName = "home" | "search" | "usage" | "files" | "doctor" | "session";

export const VIEWS: readonly ViewName[] = ["home", "search", "usage", "files", "doctor", "session"];

/** `/?view=search&q=refund` is the view search with `q`; what stands behind `#` is a place in a session. */
export interface Address {
  view: ViewName;
  said: Readonly<Record<string, string>>;
  place: string;
}

export function readAddress(url: string): Address {
  const { searchParams, hash } = new URL(url, "http://127.0.0.1/");
  const said: Record<string, string> = {};
  for (const [name, value] of searchParams) if (name !== "view") said[name] = value;
  const named = searchParams.get("view") ?? "home";
  const view = (VIEWS as readonly string[]).includes(named) ? (named as ViewName) : "home";
  return { view, said, place: decoded(hash.slice(1)) };
}

/** The address as text. What is empty is left out, and the order is always the same. */
export function writeAddress({ view, said, place }: Address): string {
  const query = new URLSearchParams();
  if (view !== "home") query.set("view", view);
  for (const name of Object.keys(said).sort()) if (said[name]) query.set(name, said[name] as string);
  const text = query.toString();
  return `/${text && `?${text}`}${place && `#${encodeURIComponent(place)}`}`;
}

export function at(view: ViewName, said: Record<string, string | undefined> = {}, place = ""): Address {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(said)) if (value) kept[name] = value;
  return { view, said: kept, place };
}

/** The same place with some things said otherwise; what is undefined or empty is no longer said. */
export function saying(address: Address, changes: Record<string, string | undefined>): Address {
  return at(address.view, { ...address.said, ...changes }, address.place);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
