/** Fills steps and other lists into the text of a migration. Where its parts are is found by fill-built-in.ts or fill-template.ts. */
import type { Acceptance } from "../../../migrations/acceptance.ts";
import { layOut } from "../../shared/print-source.ts";
import { call, valueSource, type Source } from "../../../schema/text/typescript-source.ts";
import { stepSource, type Step } from "../../../steps/registry.ts";

export interface Filling {
  readonly name: string;
  /** What the comment of `up` states too, a sentence each. */
  readonly notes?: readonly string[] | undefined;
  readonly steps?: readonly Step[] | undefined;
  readonly down?: readonly Step[] | undefined;
  readonly accepts?: readonly Acceptance[] | undefined;
  /** The migrations that this one replaces. */
  readonly replaces?: readonly string[] | undefined;
  /** The version for `after(…)` in `up`. */
  readonly after?: string | undefined;
}

export const packageName = "lance-migrate";

/** Lists that are added if a migration has none, and their comments. */
const comments = {
  was: "Its names before it was renumbered.",
  ran: "The steps that ran under them, where those were others.",
  replaces: "The migrations that it replaces.",
  down: "What rolls it back.",
  accepts: "What it may lose.",
};

type ListName = keyof typeof comments | "up";

/** The lists that a migration exports, by name. */
export type Lists = Readonly<Partial<Record<ListName, Source>>>;

/** Where a list is exported. */
export interface ListExport {
  readonly value: TextRange;
  /** With its comment. */
  readonly statement: TextRange;
  /** Behind its name: a colon and its type, or nothing. */
  readonly type: string;
  /** In JavaScript, the line of its comment that states its type. */
  readonly typeTag: string | undefined;
}

interface TextRange {
  readonly start: number;
  readonly end: number;
}

export function listsOf(steps: readonly Step[], { after, down, replaces, accepts }: Filling): Lists {
  return {
    up: stepList(steps, after),
    ...(down && { down: stepList(down) }),
    ...(replaces && { replaces: valueSource(replaces) }),
    ...(accepts && { accepts: valueSource(accepts) }),
  };
}

export function stepList(steps: readonly Step[], after?: string): Source {
  const items = steps.map(stepSource);
  return after === undefined ? { kind: "array", items } : call("after", valueSource(after), ...items);
}

/** Replaces the lists that `find` finds, and adds the others to `up`. `prefix` is that of imported names. */
export function withLists(
  text: string,
  lists: Lists,
  up: ListExport,
  find: (name: ListName) => ListExport | undefined,
  prefix: string,
): string {
  const edits = (Object.entries(lists) as (readonly [ListName, Source])[]).map(([name, list]) => {
    const known = find(name);
    const type = known?.type ?? (name === "down" ? up.type : "");
    const start = `export const ${name}${type} = `;
    const value = layOut(list, { indent: 0, used: start.length, tail: 1, prefix });
    return known === undefined
      ? addition(name as keyof typeof comments, `${start}${value};`, up)
      : { ...known.value, text: value };
  });
  return edited(text, edits);
}

interface Edit extends TextRange {
  readonly text: string;
}

/** `down` is added after the steps, every other list before them. */
function addition(name: keyof typeof comments, exported: string, { statement, typeTag }: ListExport): Edit {
  if (name !== "down")
    return { start: statement.start, end: statement.start, text: `/** ${comments[name]} */\n${exported}\n\n` };
  const comment =
    typeTag === undefined ? `/** ${comments.down} */` : `/**\n * ${comments.down}\n *\n * ${typeTag}\n */`;
  return { start: statement.end, end: statement.end, text: `\n\n${comment}\n${exported}` };
}

/** Edits the text directly, because ts-morph lays out what it writes in its own way. */
function edited(text: string, edits: readonly Edit[]): string {
  const lineEnds = (own: string) => (text.includes("\r\n") ? own.replaceAll("\n", "\r\n") : own);
  return edits
    .toSorted((one, other) => other.start - one.start)
    .reduce((all, { start, end, text: own }) => all.slice(0, start) + lineEnds(own) + all.slice(end), text);
}

/** What the comment of `up` states: the name of the migration, and notes that cannot end the comment. */
export function sentencesOf({ name, notes = [] }: Filling): readonly string[] {
  const words = name.replaceAll(/[_-]+/g, " ");
  return [words, ...notes.map((note) => note.replaceAll(/\s+/g, " ").replaceAll("*/", "* /"))].map(
    (sentence) => `${sentence[0]!.toUpperCase()}${sentence.slice(1)}.`,
  );
}
