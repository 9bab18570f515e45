/** Fills steps into this package's own templates. Their form is known, so this does not need ts-morph. */
import { existsSync, readFileSync } from "node:fs";
import { MigrateError } from "../../../errors/migrate-error.ts";
import { importLine, namesIn } from "../../shared/print-source.ts";
import { listsOf, packageName, sentencesOf, withLists, type Filling, type ListExport } from "./fill-lists.ts";

/** The comment of `up` in the templates. */
const placeholder = "What this migration does.";

/** Throws ERR_TEMPLATE_MISSING. */
export function fillBuiltIn(template: string, filling: Filling): string {
  if (!existsSync(template)) throw new MigrateError("ERR_TEMPLATE_MISSING", { file: template });
  const text = readFileSync(template, "utf8");
  const at = text.indexOf("/**");
  const [imports, exported] = [text.slice(0, at), withComment(text.slice(at), sentencesOf(filling))];
  const { steps } = filling;
  if (steps === undefined) return imports + exported;
  const lists = listsOf(steps, filling);
  const up = upIn(exported);
  const names = [...new Set(Object.values(lists).flatMap(namesIn))].toSorted();
  const imported = imports === "" ? names : [...names, "type Step"];
  const start = imported.length === 0 ? "" : `${importLine(imported, packageName)}\n\n`;
  return start + withLists(exported, lists, up, (name) => (name === "up" ? up : undefined), "");
}

/** A comment of several sentences has several lines. */
function withComment(exported: string, sentences: readonly string[]): string {
  const open = sentences.length > 1 ? `/**\n * ${placeholder}\n */` : `/** ${placeholder} */`;
  return exported.replace(`/** ${placeholder} */`, open).replace(placeholder, () => sentences.join("\n *\n * "));
}

/** `exported`: from the comment of `up`, which is the last statement of a template, to the end. */
function upIn(exported: string): ListExport {
  const { 0: declared, 1: type = "", index } = /^export const up(.*) = (?=\[$)/m.exec(exported)!;
  const end = exported.lastIndexOf("]") + 1;
  return {
    value: { start: index + declared.length, end },
    statement: { start: 0, end: end + 1 },
    type,
    typeTag: /@type .*/.exec(exported)?.[0],
  };
}
