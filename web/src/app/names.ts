// Names of folders as they are shown: the last one, with as much before it as tells it apart.

export function lastName(path: string): string {
  return path.split(/[\\/]/).filter(Boolean).pop() ?? path;
}

/** For each of the paths the shortest end that no other of them has. */
export function shortNames(paths: readonly string[]): Map<string, string> {
  const parts = new Map(paths.map((path) => [path, path.split(/[\\/]/).filter(Boolean)]));
  const made = new Map<string, string>();
  for (const [path, own] of parts) {
    let length = 1;
    const end = () => own.slice(-length).join("/");
    const isTaken = () => [...parts].some(([other, theirs]) => other !== path && theirs.slice(-length).join("/") === end());
    while (length < own.length && isTaken()) length += 1;
    made.set(path, end() || path);
  }
  return made;
}
