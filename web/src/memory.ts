// What a page remembers of this browser; a page of one's own file may not be allowed to.

export function remembered(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

export function remember(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // then it is for this visit
  }
}
