/** Random pairs of schemas: what `generate` finds is run on the real engine, and the tables have to be what was wanted. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { embed } from "../../src/features/embed/feature.ts";
import { connect, readColumns } from "../../src/engine/engine.ts";
import { diff } from "../../src/features/author/generate/diff-tables.ts";
import { up } from "../../src/commands/up.ts";
import type { MigratorOptions } from "../../src/run/run-context.ts";
import type { Migration } from "../../src/migrations/load.ts";
import { formatColumn, type Column } from "../../src/schema/data-type.ts";
import type { Database } from "../../src/schema/table.ts";
import type { Step } from "../../src/steps/registry.ts";
import { open } from "../../src/targets/lance/lance.ts";
import { memoryTarget } from "../simulate/target/memory-target.ts";
import { memoryTables } from "../simulate/target/memory-tables.ts";
import { aMigration } from "../simulate/history.ts";
import { sourceOf } from "../simulate/start-run.ts";
import * as fc from "../support/fast-check.ts";
import { rounds } from "../support/rounds.ts";
import { answered, schemaPair, type Pair } from "../support/schema-pairs.ts";

const pairs = rounds(60, 10_000);

/** In any order, at every depth. */
function written(columns: readonly Column[]): readonly string[] {
  return columns
    .map(({ name, type, nullable }) =>
      formatColumn({
        name,
        nullable,
        type: type.kind === "struct" ? { kind: "unknown", name: `struct<${written(type.fields).join(", ")}>` } : type,
      }),
    )
    .toSorted();
}

async function thereOnEngine({ from, to, answers }: Pair): Promise<"done" | "impossible"> {
  const { steps, impossible } = answered((given) => diff(from, to, { answers: given }), answers);
  if (impossible.length > 0) return "impossible";
  const first = [...from].map(([name, { columns }]): Step => ({
    kind: "createTable",
    table: name,
    columns: [...columns],
  }));
  const folder = mkdtempSync(join(tmpdir(), "lance-migrate-"));
  const engine = await open({ kind: "lance", uri: folder }, { name: "local", folder });
  const { ledger } = memoryTarget({ name: "ledger", model: "embedded", tables: memoryTables() });
  try {
    const migrations: readonly Migration[] = [
      aMigration(1, first),
      ...(steps.length === 0 ? [] : [aMigration(2, steps)]),
    ];
    const options: MigratorOptions = {
      target: { ...engine, ledger },
      ledger: "_migrations",
      migrations: sourceOf(migrations),
      computing: embed.computing,
      lease: { duration: 600_000, patience: 0 },
    };
    await up(options);
    expect(await tablesIn(folder)).toEqual(wantedOf(to));
  } finally {
    await engine.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return "done";
}

async function tablesIn(folder: string): Promise<unknown> {
  const db = await connect({ uri: folder });
  const tables: Record<string, readonly string[]> = {};
  for (const name of await db.tableNames()) tables[name] = written(await readColumns(await db.openTable(name)));
  db.close();
  return tables;
}

function wantedOf(database: Database): unknown {
  return Object.fromEntries([...database].map(([name, { columns }]) => [name, written(columns)]));
}

test(`generate and up reach what is wanted, or it is said why not, for ${pairs} pairs of schemas`, async () => {
  const seen = { done: 0, impossible: 0 };
  await fc.assert(
    fc.asyncProperty(schemaPair, async (pair) => {
      seen[await thereOnEngine(pair)]++;
    }),
    { numRuns: pairs },
  );
  expect(seen.done).toBeGreaterThan(pairs / 4);
});
