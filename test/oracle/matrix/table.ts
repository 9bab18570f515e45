/** The outcomes of the matrix as the tables of docs/reference/columns.md. Pure. */
import type { Outcome } from "./cell.ts";
import type { Cell } from "./cells.ts";
import type { Place } from "./steps.ts";

export type Result = Cell & Outcome & { readonly wrong?: string };

const [begin, end] = ["<!-- generated: npm run check matrix -->", "<!-- end of the generated part -->"];

/** The page with the outcomes in its generated part. `total`: how many cells there are. */
export function withOutcomes(
  page: string,
  results: readonly Result[],
  kinds: readonly string[],
  total: number,
): string {
  const [before, rest] = page.split(begin) as [string, string];
  const [, after] = rest.split(end) as [string, string];
  const part = [
    countsOf(results, total),
    `## Columns\n\n${tableOf("c", kinds, results)}`,
    `## Fields of a struct\n\n${tableOf("s.in", kinds, results)}`,
  ].join("\n\n");
  return `${before}${begin}\n\n${part}\n\n${end}${after}`;
}

function countsOf(results: readonly Result[], total: number): string {
  const cells = results.filter(({ engine }) => engine === undefined);
  const refusals = cells.flatMap(({ pull, up, down, reinsert }) => [pull, up, down, reinsert]);
  const sum = (numbers: readonly number[]) => numbers.reduce((one, other) => one + other, 0).toLocaleString("en-US");
  return [
    "| cells | that have run | of them not in the engine | refusals | comparisons | wrong |",
    "| --- | --- | --- | --- | --- | --- |",
    `| ${[
      sum([total]),
      sum([results.length]),
      sum([results.length - cells.length]),
      sum([refusals.filter((one) => typeof one === "object").length]),
      sum(results.map(({ comparisons = 0 }) => comparisons)),
      sum([results.filter(({ wrong }) => wrong !== undefined).length]),
    ].join(" | ")} |`,
  ].join("\n");
}

const formats = ["2.0", "2.1", "2.2"] as const;

/** One row for each kind of column. */
function tableOf(place: Place, kinds: readonly string[], results: readonly Result[]): string {
  const rows = kinds.map((kind) =>
    rowOf(
      kind,
      results.filter((one) => one.kind === kind && one.place === place),
    ),
  );
  return [
    "| kind | file formats | a retype makes it | indexes | steps that are refused |",
    "| --- | --- | --- | --- | --- |",
    ...rows.map((cells) => `| ${cells.join(" | ")} |`),
  ].join("\n");
}

function rowOf(kind: string, all: readonly Result[]): readonly string[] {
  const there = all.filter((one) => one.engine === undefined && one.wrong === undefined);
  const steps = [...new Set(there.map(({ step }) => step))];
  const works = (step: string) => there.some((one) => one.step === step && one.up === "as promised");
  const list = (names: readonly string[]) => (names.length === 0 ? "–" : names.join(", "));
  const accepted = (prefix: string) => {
    const named = steps.filter((step) => step.startsWith(prefix) && works(step));
    return list(named.map((step) => step.slice(prefix.length)));
  };
  const has = list(formats.filter((format) => there.some((one) => one.format === format)));
  if (there.length === 0) return [kind, "none", "–", "–", "–"];
  if (there.every(({ pull }) => pull !== "as promised")) return [kind, has, "–", "–", "all, as `migrate pull` is"];
  const others = steps.filter((step) => !/^(?:retype to|index it)/.test(step) && !works(step));
  return [kind, has, accepted("retype to "), accepted("index it: "), list(others)];
}

/** Whether the page agrees with an outcome, if it has outcomes of that file format. */
export function agrees(page: string, { kind, place, format, step, up }: Result): boolean {
  const sections = page.split(/^## /m);
  const section = sections.find((text) => text.startsWith(place === "c" ? "Columns" : "Fields"))!;
  const row = section.split("\n").find((line) => line.startsWith(`| ${kind} | `));
  const [has, retypes, indexes, refused] = row!.split("|").slice(2);
  // A name may hold a comma, such as that of a decimal.
  const holds = (cell: string | undefined, name: string) => `, ${cell!.trim()}, `.includes(`, ${name}, `);
  if (up !== "as promised" || !holds(has, format)) return true;
  const [, prefix, name] = /^(retype to |index it: )?(.*)$/.exec(step)!;
  if (prefix === undefined) return !holds(refused, step);
  return holds(prefix === "retype to " ? retypes : indexes, name!);
}
