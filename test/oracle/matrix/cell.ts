/** One cell of the matrix: a kind of column, a step, a format, a target. pylance makes the table and judges what becomes of it. */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { embed } from "../../../src/features/embed/feature.ts";
import { baseline } from "../../../src/features/repair/baseline.ts";
import { pull } from "../../../src/features/author/adopt/pull.ts";
import { down } from "../../../src/commands/down.ts";
import { planDown } from "../../../src/commands/plan.ts";
import { up } from "../../../src/commands/up.ts";
import { isMigrateError } from "../../../src/errors/migrate-error.ts";
import { acceptances, type Acceptance } from "../../../src/migrations/acceptance.ts";
import type { Migration } from "../../../src/migrations/load.ts";
import type { MigratorOptions } from "../../../src/run/run-context.ts";
import { aMigration } from "../../simulate/history.ts";
import type { Asked } from "../judge.ts";
import type { Databases } from "./databases.ts";
import type { Cell } from "./cells.ts";
import { memoryLedger } from "./memory-ledger.ts";
import { cases, type Operation } from "./steps.ts";

/** What a command did: nothing, for this reason, or what the step promises. */
export type Ended = { readonly refused: string } | "as promised";

export interface Outcome {
  /** Why the engine has no such column, or what the commands did. */
  readonly engine?: string;
  readonly pull?: Ended;
  readonly up?: Ended;
  readonly down?: Ended;
  readonly reinsert?: Ended;
  /** Whether it needed consent. */
  readonly accept?: readonly Acceptance[];
  /** How often Python has compared a table. */
  readonly comparisons: number;
}

/** Throws what is wrong. */
export async function runCell(cell: Cell, judge: Asked, databases: Databases): Promise<Outcome> {
  const { folder, target } = databases[cell.on];
  for (const name of databases.tables(folder)) rmSync(join(folder, name), { recursive: true });
  const table = join(folder, "t.lance");
  const engine = await judge.ask({ make: table, ...cell });
  if (typeof engine === "string") return { engine, comparisons: 0 };

  const { steps, promise, names = {} } = cases[cell.step]!(cell.place);
  const files: Migration[] = [];
  const options: MigratorOptions = {
    target: { ...target, ledger: memoryLedger() },
    ledger: "_migrations",
    folder: databases.code,
    migrations: { list: () => files, load: async ({ version }) => files[version - 1]! },
    computing: embed.computing,
    lease: { duration: 30_000, patience: 60_000 },
    guards: {},
  };
  let comparisons = 0;
  /** The consent that the step needs. */
  let accept: readonly Acceptance[] = [];
  const must = async (task: object) => {
    const wrong = await judge.ask(task);
    if (wrong !== null) throw new Error(`${JSON.stringify(task)}: ${String(wrong)}`);
  };
  const holds = async (from: string, operations: readonly Operation[] = []) => {
    comparisons++;
    if (operations[0]?.[0] === "gone") {
      if (existsSync(table)) throw new Error("the table is still there");
    } else await must({ check: table, from, promise: operations, loses: accept.length > 0 });
  };
  /** Runs a command; a refusal has changed nothing since `was` was taken. */
  const run = async (command: () => Promise<unknown>, was: string): Promise<Ended> => {
    try {
      await command();
      return "as promised";
    } catch (error) {
      // Of a step that the engine refuses, nothing has run.
      const isWhole = isMigrateError(error, "ERR_STEP_FAILED") && error.details.done === 0;
      if (!isMigrateError(error) || !(error.outcome === "refused" || isWhole)) throw error;
      if (existsSync(table)) await holds(was);
      return { refused: `${error.code}: ${error.message}` };
    }
  };

  await must({ take: table, as: "before" });
  const ended: { pull?: Ended; up?: Ended; down?: Ended; reinsert?: Ended } = {};
  ended.pull = await run(async () => {
    files.push(aMigration(1, (await pull(options, [])).steps));
    await baseline(options);
  }, "before");
  if (ended.pull !== "as promised") return { ...ended, comparisons };
  files.push(aMigration(2, steps));
  ended.up = await run(() => up(options), "before");
  if (ended.up !== "as promised" && ended.up.refused.startsWith("ERR_CONSENT")) {
    accept = acceptances;
    ended.up = await run(() => up(options, { accept }), "before");
  }
  if (ended.up !== "as promised") return { ...ended, comparisons };
  await holds("before", promise);
  if (existsSync(table)) await must({ take: table, as: "after" });
  ended.down = await run(() => down(options), "after");
  if (ended.down === "as promised") {
    await holds("before");
    await up(options, { accept });
    await holds("before", promise);
  }
  if (!existsSync(table)) return { ...ended, comparisons };
  await must({ append: table, ids: [100, 101] });
  await must({ take: table, as: "with more" });
  await must({ take: table, as: "more", ids: [100, 101] });
  const told = JSON.stringify(await planDown(options, { reinsert: true }).catch(() => null));
  const loses = told.includes(`without what they have in `) ? [cell.place] : [];
  ended.reinsert = await run(() => down(options, { reinsert: true }), "with more");
  if (ended.reinsert === "as promised") {
    comparisons++;
    await must({ back: table, from: "before", appended: "more", names, loses });
  }
  return { ...ended, accept, comparisons };
}
