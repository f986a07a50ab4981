// The line that goes on with a session in a terminal.

/** A word of a shell; null when it holds what a terminal may take for a command of its own. */
function quoted(word: string): string | null {
  if (/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(word)) return null;
  return /^[A-Za-z0-9_./~-]+$/.test(word) && !word.startsWith("-") ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** `cd` to the project and resume; without what cannot be pasted safely, and null when that is the id. */
export function resumeLine(id: string, project: string | null | undefined): string | null {
  const session = quoted(id);
  if (!session) return null;
  const folder = project?.startsWith("/") ? quoted(project) : null;
  return folder ? `cd ${folder} && claude --resume ${session}` : `claude --resume ${session}`;
}
