/**
 * npm run check clients [-- NAME …]: what versions of LanceDB's clients (js-0.27.2, py-0.25.3) can do with tables that this tool's
 * engine made and migrated, and what they damage. Installs them into the system's folder for temporary files, and prints the
 * tables of docs/clients.md.
 */
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startClient, type Client } from "./client.ts";
import { kinds, makeTable, states } from "./tables.ts";
import { tryWork, worksOn, type Outcome } from "./trial.ts";

const own = "js-0.39.0";
const usual = ["js-0.22.3", "js-0.27.2", "js-0.30.0", "js-0.37.1", own, "py-0.25.3", "py-0.40.0"];
const names = process.argv.length > 2 ? process.argv.slice(2) : usual;

interface Tried extends Outcome {
  readonly state: string;
  readonly work: string;
}

const folder = mkdtempSync(join(tmpdir(), "lance-migrate-clients-"));
const judge = startClient(own);
const details = new Map<string, Set<string>>();
try {
  for (const kind of Object.keys(kinds)) {
    const columns = new Map<string, readonly Tried[]>();
    for (const name of names) {
      const client = startClient(name);
      columns.set(name, await tried(kind, client));
      client.stop();
      process.stderr.write(`${kind}: ${name}\n`);
    }
    print(kind, columns);
  }
  for (const [what, where] of details) process.stdout.write(`- ${what}: ${[...where].join("; ")}\n`);
} finally {
  judge.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function tried(kind: string, client: Client): Promise<readonly Tried[]> {
  const results: Tried[] = [];
  const copy = join(folder, "copy");
  for (const state of Object.keys(states)) {
    const made = await makeTable(join(folder, client.name), kind, state);
    for (const [work, what] of Object.entries(worksOn(made))) {
      rmSync(copy, { recursive: true, force: true });
      cpSync(made.folder, copy, { recursive: true });
      results.push({ state, work, ...(await tryWork(client, judge, copy, made, what)) });
    }
  }
  return results;
}

function print(kind: string, columns: ReadonlyMap<string, readonly Tried[]>): void {
  const row = (cells: readonly string[]) => process.stdout.write(`| ${cells.join(" | ")} |\n`);
  row([kind, ...columns.keys()]);
  row(["---", ...[...columns.keys()].map(() => "---")]);
  const works = new Set([...columns.values()].flat().map(({ work }) => work));
  for (const work of works)
    row([work, ...[...columns.values()].map((results) => cell(results.filter((one) => one.work === work)))]);
  row([
    "versions of rows",
    ...[...columns.values()].map((results) => (kind.includes("stable") ? versionsCell(results) : "")),
  ]);
  process.stdout.write("\n");
  for (const [name, results] of columns)
    for (const { state, work, verdict, why } of results.filter((one) => one.verdict !== "ok"))
      for (const reason of why) {
        const key = `${kind}, ${name}, ${work}, ${verdict}: ${reason}`;
        details.set(key, (details.get(key) ?? new Set()).add(state));
      }
}

/** The worst first; in how many states of the table where not in all. */
function cell(results: readonly Tried[]): string {
  const words = { damaged: "**damages**", wrong: "**reads wrong**", refused: "refused", ok: "yes" } as const;
  const counts = Object.entries(words).map(([verdict, word]) => {
    const { length } = results.filter((one) => one.verdict === verdict);
    return length === 0 ? [] : [length === results.length ? word : `${word} (${length})`];
  });
  return counts.flat().join(", ");
}

function versionsCell(results: readonly Tried[]): string {
  const wrong = new Set(results.flatMap(({ versions }) => versions));
  return wrong.size === 0 ? "true" : [...wrong].join("; ");
}
