// The signs of the frame, drawn as those of the renderer are.

const PATHS = {
  home: "M2.5 3.5h3 M2.5 8h3 M2.5 12.5h3 M8 3.5h5.5 M8 8h5.5 M8 12.5h5.5",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 1 0 0-9 M10.3 10.3 14 14",
  usage: "M2 13.5h12 M4 13.5V8.5 M8 13.5V3 M12 13.5V6",
  files: "M4 1.8h5l3.2 3.2v9.2H4z M9 1.8V5h3.2 M6.2 8.2h3.8 M6.2 11h3.8",
  doctor: "M1.5 8.5h3L6.3 4l3.2 8.5 1.8-4h3.2",
  go: "M2.5 8h10.5 M8.8 3.8 13 8l-4.2 4.2",
  more: "M3.4 8h.1 M8 8h.1 M12.6 8h.1",
  copy: "M6 5.5h7.5v8H6z M3.5 10.5h-1v-8h7v1",
} as const;

export type SignName = keyof typeof PATHS;

export function Sign({ name, size = 18 }: { name: SignName; size?: number }) {
  return <svg class={`icon sign-${name}`} viewBox="0 0 16 16" width={size} height={size} aria-hidden="true"><path d={PATHS[name]} /></svg>;
}
