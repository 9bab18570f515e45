/** Fills steps into this package's own templates. Their form is known, so this does not need ts-morph. */
import { existsSync, readFileSync } from "node:fs";
import { MigrateError } from "../../../errors/migrate-error.ts";
import type { Acceptance } from "../../../migrations/acceptance.ts";
import { call, valueSource, type Source } from "../../../schema/text/typescript-source.ts";
import { stepSource, type Step } from "../../../steps/registry.ts";
import { importLine, layOut, namesIn } from "../../../schema/text/print-source.ts";

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

export type Addable = keyof typeof comments;

export const comments = {
  was: "Its names before it was renumbered.",
  ran: "The steps that ran under them, where those were others.",
  replaces: "The migrations that it replaces.",
  down: "What rolls it back.",
  accepts: "What it may lose.",
};

/** The comment of `up` in the templates. */
const placeholder = "What this migration does.";

/** Throws ERR_TEMPLATE_MISSING. */
export function fillBuiltIn(template: string, { name, notes, steps, down, accepts, replaces, after }: Filling): string {
  if (!existsSync(template)) throw new MigrateError("ERR_TEMPLATE_MISSING", { file: template });
  const text = readFileSync(template, "utf8");
  const at = text.indexOf("/**");
  const [imports, exported] = [text.slice(0, at), text.slice(at)];
  const sentence = sentenceOf(name);
  if (steps === undefined) return imports + exported.replace(placeholder, () => sentence);
  const lists = [listOf(steps, after), ...(down === undefined ? [] : [listOf(down)])];
  return [
    importsFor(lists, imports),
    ...(accepts === undefined ? [] : [plainExport("accepts", accepts)]),
    ...(replaces === undefined ? [] : [plainExport("replaces", replaces)]),
    ...lists.map((list, index) =>
      index === 0
        ? stepsExport(withNotes(exported, notes), "up", sentence, list)
        : stepsExport(exported, "down", comments.down, list),
    ),
  ].join("\n");
}

function importsFor(lists: readonly Source[], imports: string): string {
  const names = [...new Set(lists.flatMap(namesIn))].toSorted();
  const all = imports === "" ? names : [...names, "type Step"];
  return all.length === 0 ? "" : `${importLine(all, packageName)}\n`;
}

function plainExport(name: "accepts" | "replaces", values: readonly string[]): string {
  const start = `export const ${name} = `;
  return `/** ${comments[name]} */\n${start}${listAfter(start, valueSource(values))}`;
}

/** As the template exports `up`, with another name, comment and list. */
function stepsExport(exported: string, name: "up" | "down", sentence: string, list: Source): string {
  const head = exported
    .slice(0, exported.indexOf("[\n"))
    .replace(placeholder, () => sentence)
    .replace("export const up", `export const ${name}`);
  return head + listAfter(head.slice(head.lastIndexOf("\n") + 1), list);
}

/** The comment with more sentences: then it has several lines. */
function withNotes(exported: string, notes: readonly string[] | undefined): string {
  if (notes === undefined || notes.length === 0) return exported;
  const lines = [placeholder, ...notesOf(notes)].join("\n *\n * ");
  return exported.replace(`/** ${placeholder} */`, `/**\n * ${placeholder}\n */`).replace(placeholder, () => lines);
}

function listAfter(start: string, list: Source): string {
  return `${layOut(list, { indent: 0, used: start.length, tail: 1, prefix: "" })};\n`;
}

/** Notes as sentences that cannot end the comment in which they are. */
export function notesOf(notes: readonly string[] = []): readonly string[] {
  return notes.map(
    (note) => `${note[0]!.toUpperCase()}${note.slice(1).replaceAll(/\s+/g, " ").replaceAll("*/", "* /")}.`,
  );
}

/** The name of a migration as a sentence. */
export function sentenceOf(name: string): string {
  const words = name.replaceAll(/[_-]+/g, " ");
  return `${words[0]!.toUpperCase()}${words.slice(1)}.`;
}

export function listOf(steps: readonly Step[], after?: string): Source {
  const items = steps.map(stepSource);
  return after === undefined ? { kind: "array", items } : call("after", valueSource(after), ...items);
}
