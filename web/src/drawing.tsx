// The parts a prompt, an answer or a call is made of, drawn.

import { CodeBlock, type Cut } from "./code";
import { DiffBlock } from "./diff";
import { inside, type Place } from "./folds";
import { Icon, type IconName } from "./icons";
import { Markdown } from "./markdown";
import type { Image, Notice, Part, Section, Table, Text, Todo, Todos } from "./parts";
import { bytes, count, lineCount } from "./text";
import { visible, visibleText } from "./visible";

const LONG_PROMPT = 40;

export function Parts({ parts, place, cut = "head" }: { parts: Part[]; place: Place; cut?: Cut }) {
  return <>{parts.map((part, at) => <PartView key={at} part={part} place={inside(place, at)} cut={cut} />)}</>;
}

function PartView({ part, place, cut }: { part: Part; place: Place; cut: Cut }) {
  switch (part.kind) {
    case "text":
      return <Typed part={part} place={place} />;
    case "markdown":
      return <MarkdownView text={part.text} place={place} />;
    case "code":
      return <CodeBlock code={part} place={place} cut={cut} />;
    case "diff":
      return <DiffBlock diff={part} place={place} />;
    case "table":
      return <TableView part={part} />;
    case "image":
      return <ImageView part={part} place={place} />;
    case "notice":
      return <NoticeView notice={part} place={place} />;
    case "todos":
      return <TodosView part={part} />;
    case "section":
      return <SectionView part={part} place={place} cut={cut} />;
    default:
      return <NoticeView notice={{ kind: "notice", text: "This part is of a kind this page does not know.", detail: JSON.stringify(part, null, 1) }} place={place} />;
  }
}

export function MarkdownView({ text, place }: { text: string; place: Place }) {
  let n = 0;
  return (
    <Markdown
      text={text}
      code={(code, language) => <CodeBlock code={{ kind: "code", text: code, language }} place={inside(place, n++)} cut="none" />}
    />
  );
}

function Typed({ part, place }: { part: Text; place: Place }) {
  const { folds, key } = place;
  const total = lineCount(part.text);
  const isLong = total > LONG_PROMPT + 8 && !folds.isPrint;
  const isAll = !isLong || folds.isOpen(`${key}#all`, false);
  const shown = isAll ? part.text : part.text.split("\n").slice(0, LONG_PROMPT).join("\n");
  return (
    <>
      <div class={part.is_muted ? "typed muted" : "typed"}>{visible(shown)}</div>
      {isLong && (
        <button type="button" class="more" aria-expanded={isAll} onClick={(event) => folds.toggle(`${key}#all`, false, event.currentTarget)}>
          {isAll ? `Show the first ${LONG_PROMPT} lines` : `Show all ${count(total)} lines (${bytes(part.text.length)})`}
        </button>
      )}
    </>
  );
}

function TableView({ part }: { part: Table }) {
  const head = part.head ?? [];
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="Table">
      <table class={head.length ? "data" : "data pairs"}>
        {head.length > 0 && <thead><tr>{head.map((one) => <th scope="col">{visible(one)}</th>)}</tr></thead>}
        <tbody>
          {part.rows.map((row) => (
            <tr>
              {row.map((cell, at) => (head.length === 0 && at === 0 && row.length > 1 ? <th scope="row">{visible(cell)}</th> : <td>{visible(cell)}</td>))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const PICTURES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** The address of a picture in the file itself, or null: never one elsewhere, never a kind that can hold a script. */
export function pictureAddress(part: Image): string | null {
  const type = part.media_type.toLowerCase();
  if (!part.data || !PICTURES.has(type) || !/^[A-Za-z0-9+/]+={0,2}$/.test(part.data)) return null;
  return `data:${type};base64,${part.data}`;
}

function ImageView({ part, place }: { part: Image; place: Place }) {
  const { folds, key } = place;
  const address = pictureAddress(part);
  const size = part.size ?? (part.data ? Math.floor((part.data.length * 3) / 4) : null);
  const facts = [
    part.name ?? (part.media_type.startsWith("image/") ? "" : "document"),
    part.media_type,
    part.width && part.height ? `${count(part.width)} × ${count(part.height)}` : "",
    size ? bytes(size) : "",
  ].filter(Boolean);
  const caption = (
    <span class="caption">
      {facts.map((fact) => <bdi>{visible(fact)}</bdi>)}
      {part.url && <bdi class="remote">{visible(part.url)}</bdi>}
      {!address && !part.url && <span>{part.data ? "not shown" : "not in the session"}</span>}
    </span>
  );
  if (!address) return <div class="picture is-named"><Icon name="todo" />{caption}</div>;
  const isLarge = folds.isOpen(`${key}#large`, false);
  const name = visibleText(part.name ?? "Image");
  return (
    <div class={isLarge ? "picture is-large" : "picture"}>
      <button type="button" class="thumb" aria-expanded={isLarge} aria-label={`${name}: ${isLarge ? "smaller" : "larger"}`} onClick={(event) => folds.toggle(`${key}#large`, false, event.currentTarget)}>
        <img src={address} alt={name} loading="lazy" decoding="async" />
      </button>
      {caption}
    </div>
  );
}

const SIGNS: Record<string, IconName> = { info: "info", warning: "warning", error: "failed" };

export function NoticeView({ notice, place }: { notice: Notice; place: Place }) {
  const { folds, key } = place;
  const level = notice.level ?? "info";
  const isSaid = notice.line ? notice.text.includes(`line ${notice.line}`) || notice.text.includes(`lines ${notice.line}`) : false;
  const where = isSaid ? [] : [
    notice.line ? `line ${count(notice.line)}` : "",
    typeof notice.offset === "number" ? `byte ${count(notice.offset)}` : "",
    notice.length ? bytes(notice.length) : "",
  ].filter(Boolean);
  const isOpen = folds.isOpen(`${key}#detail`, false);
  return (
    <div class={`notice is-${level}`} role="note">
      <Icon name={SIGNS[level] ?? "info"} label={level} />
      <div class="noticetext">
        {visible(notice.text)}
        {where.length > 0 && <span class="where"> ({where.join(", ")})</span>}
        {notice.detail && !folds.isPrint && (
          <button type="button" class="more inline" aria-expanded={isOpen} onClick={(event) => folds.toggle(`${key}#detail`, false, event.currentTarget)}>
            {isOpen ? "Hide" : typeof notice.offset === "number" ? "Show bytes" : "Show what stands there"}
          </button>
        )}
        {!folds.isPrint && folds.noticeEnd?.(notice)}
        {notice.detail && isOpen && <CodeBlock code={{ kind: "code", text: notice.detail }} place={inside(place, "detail")} cut="head" />}
      </div>
    </div>
  );
}

const TODO_SIGNS: Record<Todo["state"], IconName> = { pending: "todo", in_progress: "doing", completed: "checked", removed: "removed" };
const TODO_WORDS: Record<Todo["state"], string> = { pending: "to do", in_progress: "in progress", completed: "done", removed: "removed" };

function TodosView({ part }: { part: Todos }) {
  return (
    <ul class="todos">
      {part.items.map((item) => {
        const isChanged = item.is_new || (item.was && item.was !== item.state);
        return (
          <li class={`todo is-${item.state}${isChanged ? " is-changed" : ""}`}>
            <Icon name={TODO_SIGNS[item.state]} label={TODO_WORDS[item.state]} />
            <span>{visible(item.text)}</span>
            {item.is_new ? <span class="was">new</span> : item.was && item.was !== item.state ? <span class="was">was {TODO_WORDS[item.was]}</span> : null}
          </li>
        );
      })}
    </ul>
  );
}

function SectionView({ part, place, cut }: { part: Section; place: Place; cut: Cut }) {
  const { folds, key } = place;
  const isOpen = folds.isOpen(`${key}#section`, part.is_open ?? false);
  return (
    <div class="section">
      <button type="button" class="fold" aria-expanded={isOpen} onClick={(event) => folds.toggle(`${key}#section`, part.is_open ?? false, event.currentTarget)}>
        <Icon name="chevron" /><span>{visible(part.title)}</span>
      </button>
      {isOpen && <div class="sectionbody"><Parts parts={part.parts} place={place} cut={cut} /></div>}
    </div>
  );
}
