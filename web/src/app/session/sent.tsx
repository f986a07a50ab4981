// What a kind counts: the blocks that the model is sent when the session is resumed, by their first words.

import { firstSentence, plural, tokens } from "../../text";
import { Isolated, visible } from "../../visible";
import type { Context } from "../api";

const MOST = 100;
const PER_TOKEN = 4; // characters, roughly

export interface SentBlock {
  kind: string;
  words: string;
  size: number;
  /** The call by whose id its place is found. */
  call: string | null;
}

interface Block {
  type?: unknown;
  text?: unknown;
  thinking?: unknown;
  name?: unknown;
  id?: unknown;
  input?: unknown;
  tool_use_id?: unknown;
  content?: unknown;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function wordsIn(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return (content as Block[]).map((block) => text(block.text) || (block.type === "image" ? "[image]" : "")).filter(Boolean).join(" ");
}

/** The blocks of the messages, by the kinds of the window. */
export function sentBlocks(messages: NonNullable<Context["messages"]>): SentBlock[] {
  const made: SentBlock[] = [];
  const tools = new Map<string, string>();
  const add = (kind: string, words: string, size: number, call: string | null = null) => made.push({ kind, words, size, call });
  for (const { role, content } of messages) {
    const said = role === "assistant" ? "text" : "prompts";
    if (typeof content === "string") add(said, content, content.length);
    if (!Array.isArray(content)) continue;
    for (const block of content as Block[]) {
      switch (block.type) {
        case "text":
          add(said, text(block.text), text(block.text).length);
          break;
        case "thinking":
        case "redacted_thinking":
          add("thinking", text(block.thinking) || "encrypted", text(block.thinking).length);
          break;
        case "tool_use":
        case "server_tool_use": {
          tools.set(text(block.id), text(block.name));
          const input = JSON.stringify(block.input ?? {});
          add("calls", `${text(block.name)} ${input.slice(0, 300)}`, input.length, text(block.id));
          break;
        }
        case "tool_result": {
          const words = wordsIn(block.content);
          add(`result:${tools.get(text(block.tool_use_id)) ?? ""}`, words, words.length, text(block.tool_use_id));
          break;
        }
        case "image":
        case "document":
          add("images", String(block.type), 0);
          break;
        default:
          break;
      }
    }
  }
  return made;
}

export function SentList({ blocks, onPlace }: { blocks: SentBlock[]; onPlace: (said: { call: string }) => void }) {
  const shown = [...blocks].sort((one, other) => other.size - one.size).slice(0, MOST);
  if (blocks.length === 0) return <p class="menunote">Nothing of it stands in the messages that are sent on resume.</p>;
  return (
    <ul class="sent">
      {shown.map((block, n) => (
        <li key={n}>
          <span class="sentsize">≈ {tokens(Math.ceil(block.size / PER_TOKEN))}</span>
          {block.call
            ? <button type="button" class="sentwords" onClick={() => onPlace({ call: block.call as string })}><Isolated text={firstSentence(block.words) || "(no words)"} /></button>
            : <span class="sentwords"><bdi>{visible(firstSentence(block.words) || "(no words)")}</bdi></span>}
        </li>
      ))}
      {blocks.length > MOST && <li class="faint">The largest {MOST} of {plural(blocks.length, "block")}.</li>}
    </ul>
  );
}
