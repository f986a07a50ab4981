// Markdown as nodes, never as markup: HTML in it is text, an image is its address, a heading is a bold line.

import MarkdownIt, { type Token } from "markdown-it";
import { Fragment, h, type ComponentChildren, type VNode } from "preact";
import { safeAddress } from "./text";
import { visible } from "./visible";

const LARGEST = 300_000; // characters; beyond it the text stands as it was typed

const reader = new MarkdownIt({ html: false, linkify: true, breaks: false });
// Only what says its scheme is a link: `setup.py` is a file, whatever the list of domains holds.
reader.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
// The address is judged once, by `safeAddress`; one that is refused stays readable.
reader.validateLink = () => true;
reader.normalizeLink = (address) => address;
reader.normalizeLinkText = (address) => address;

const PLAIN: Record<string, string> = {
  paragraph_open: "p", bullet_list_open: "ul", ordered_list_open: "ol", list_item_open: "li",
  blockquote_open: "blockquote", strong_open: "strong", em_open: "em", s_open: "s",
  thead_open: "thead", tbody_open: "tbody", tr_open: "tr", th_open: "th", td_open: "td",
};

type CodeDrawer = (text: string, language: string) => VNode;

export function Markdown({ text, code }: { text: string; code: CodeDrawer }) {
  if (text.length > LARGEST) return <div class="typed">{visible(text)}</div>;
  let parsed: Token[];
  try {
    parsed = reader.parse(text, {});
  } catch {
    return <div class="typed">{visible(text)}</div>;
  }
  return <div class="md">{draw(parsed, code)}</div>;
}

interface Frame {
  open: Token | null;
  children: ComponentChildren[];
}

function draw(list: Token[], code: CodeDrawer): ComponentChildren[] {
  const root: Frame = { open: null, children: [] };
  const stack: Frame[] = [root];
  const top = () => stack[stack.length - 1] ?? root;
  for (const token of list) {
    if (token.nesting === 1) {
      stack.push({ open: token, children: [] });
    } else if (token.nesting === -1) {
      if (stack.length > 1) {
        const frame = stack.pop() as Frame;
        top().children.push(element(frame.open as Token, frame.children));
      }
    } else {
      top().children.push(leaf(token, code));
    }
  }
  while (stack.length > 1) {
    const frame = stack.pop() as Frame;
    top().children.push(element(frame.open as Token, frame.children));
  }
  return root.children;
}

function attribute(token: Token, name: string): string {
  return String(token.attrGet(name) ?? "");
}

function element(token: Token, children: ComponentChildren[]): ComponentChildren {
  if (token.hidden) return h(Fragment, null, children);
  switch (token.type) {
    case "heading_open":
      return <p class={`mdh md${token.tag}`}>{children}</p>;
    case "table_open":
      return <div class="scroll" tabIndex={0} role="group" aria-label="Table"><table>{children}</table></div>;
    case "link_open": {
      const raw = attribute(token, "href");
      const address = safeAddress(raw);
      if (address) return <Link address={address}>{children}</Link>;
      // What may not be opened is spelled out, so that nothing of it is lost.
      return <span class="nolink">{children}{raw ? <> ({visible(raw)})</> : null}</span>;
    }
    case "ordered_list_open": {
      const start = Number(attribute(token, "start"));
      return start > 1 ? <ol start={start}>{children}</ol> : <ol>{children}</ol>;
    }
    case "th_open":
    case "td_open": {
      const right = /right/.test(attribute(token, "style"));
      return h(token.type === "th_open" ? "th" : "td", right ? { class: "num" } : null, children);
    }
    default:
      return h(PLAIN[token.type] ?? "span", null, children);
  }
}

function leaf(token: Token, code: CodeDrawer): ComponentChildren {
  switch (token.type) {
    case "inline":
      return draw(token.children ?? [], code);
    case "text":
      return visible(token.content);
    case "softbreak":
      return "\n";
    case "hardbreak":
      return <br />;
    case "hr":
      return <hr />;
    case "code_inline":
      return <code>{visible(token.content)}</code>;
    case "fence":
    case "code_block":
      return code(token.content.replace(/\n$/, ""), token.info.trim().split(/\s+/)[0] ?? "");
    case "image":
      return <span class="remote">[image{token.content ? <>: {visible(token.content)}</> : null}] {visible(attribute(token, "src"))}</span>;
    default:
      return visible(token.content);
  }
}

export function Link({ address, children }: { address: string; children: ComponentChildren }) {
  return <a href={address} target="_blank" rel="noopener noreferrer" referrerpolicy="no-referrer">{children}</a>;
}
