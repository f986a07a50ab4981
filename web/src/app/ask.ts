// Asking the server, and what it says when it cannot.

export type Said = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Why there is no answer, in words that can be shown. */
export class Failure extends Error {
  constructor(readonly code: string, message: string, readonly hint: string | null, readonly status: number) {
    super(message);
  }

  /** Whether the server itself could not be reached. */
  get isGone(): boolean {
    return this.status === 0;
  }
}

export function path(place: string, said: Said = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(said)) {
    if (value !== null && value !== undefined && value !== "" && value !== false) query.set(name, String(value));
  }
  const text = query.toString();
  return text ? `${place}?${text}` : place;
}

export async function ask<T>(place: string, said: Said = {}, signal?: AbortSignal): Promise<T> {
  return read<T>(await reach(path(place, said), { headers: { accept: "application/json" }, ...(signal && { signal }) }));
}

/** Ask for something that is no JSON, as an export. */
export async function askText(place: string, said: Said = {}): Promise<string> {
  const response = await reach(path(place, said), {});
  return response.ok ? response.text() : read<string>(response);
}

/** Ask for a change. Only the page itself can send the header that the server wants to see. */
export async function change<T>(place: string, body: Record<string, unknown>): Promise<T> {
  return read<T>(await reach(place, { method: "POST", headers: { "content-type": "application/json", "x-clew": "1" }, body: JSON.stringify(body) }));
}

async function reach(place: string, options: RequestInit): Promise<Response> {
  try {
    return await fetch(place, { credentials: "same-origin", ...options });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Failure("gone", "The server does not answer.", "Is clew web still running?", 0);
  }
}

async function read<T>(response: Response): Promise<T> {
  let made: unknown;
  try {
    made = await response.json();
  } catch {
    throw new Failure("unreadable", "The answer could not be read.", null, response.status);
  }
  if (response.ok) return made as T;
  const { code, message, hint } = (made as { error?: { code?: string; message?: string; hint?: string | null } }).error ?? {};
  throw new Failure(code ?? "error", message ?? `The server said ${response.status}.`, hint ?? null, response.status);
}

export function isAborted(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}
