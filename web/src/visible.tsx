// What cannot be seen is drawn: controls and what turns the direction of writing as marks with their names.

import type { ComponentChildren } from "preact";

const ODD = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]|\udb40[\udc00-\udc7f]/g;

const NAMES: Record<number, string> = {
  0x061c: "ALM", 0x200b: "ZWSP", 0x200e: "LRM", 0x200f: "RLM", 0x2028: "LS", 0x2029: "PS",
  0x202a: "LRE", 0x202b: "RLE", 0x202c: "PDF", 0x202d: "LRO", 0x202e: "RLO",
  0x2060: "WJ", 0x2066: "LRI", 0x2067: "RLI", 0x2068: "FSI", 0x2069: "PDI", 0xfeff: "BOM",
};

const CONTROLS = "NUL SOH STX ETX EOT ENQ ACK BEL BS TAB LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US".split(" ");

/** What stands in a mark of the page: letters, as the signs for controls are boxes in many fonts. */
function label(code: number): string {
  if (code < 0x20) return CONTROLS[code] ?? "";
  if (code === 0x7f) return "DEL";
  return symbol(code).replace(/^\[(.*)\]$/, "$1");
}

function symbol(code: number): string {
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "␡";
  if (code >= 0xd800 && code <= 0xdfff) return "\ufffd";
  return `[${NAMES[code] ?? `U+${code.toString(16).toUpperCase().padStart(4, "0")}`}]`;
}

/** The text with a labelled mark for every control and every turn of direction. */
export function visible(text: string): ComponentChildren {
  const plain = text.includes("\r\n") ? text.replaceAll("\r\n", "\n") : text;
  if (plain.search(ODD) < 0) return plain;
  const made: ComponentChildren[] = [];
  let at = 0;
  for (const found of plain.matchAll(ODD)) {
    if (found.index > at) made.push(plain.slice(at, found.index));
    const code = found[0].codePointAt(0) ?? 0;
    made.push(<span class="ctl" title={`U+${code.toString(16).toUpperCase().padStart(4, "0")}`}>{label(code)}</span>);
    at = found.index + found[0].length;
  }
  if (at < plain.length) made.push(plain.slice(at));
  return made;
}

/** The same for where only characters fit, as in an attribute. */
export function visibleText(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(ODD, (one) => symbol(one.codePointAt(0) ?? 0));
}

/** A title: whatever direction it is written in stays inside it. */
export function Isolated({ text, class: name }: { text: string; class?: string }) {
  return <bdi class={name}>{visible(text)}</bdi>;
}
