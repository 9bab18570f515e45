import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { embed } from "../../../../../src/features/embed/feature.ts";
import { up } from "../../../../../src/commands/up.ts";
import { migrationsIn } from "../../../../../src/migrations/source.ts";
import type { RunEvent } from "../../../../../src/run/events.ts";
import { vector, int64 } from "../../../../../src/schema/declare/type-builders.ts";
import { ivfFlat } from "../../../../../src/schema/declare/index-builders.ts";
import { createIndex, createTable } from "../../../../../src/steps/index.ts";
import { open } from "../../../../../src/targets/lance/lance.ts";
import { temporaryFolder } from "../../../../support/project.ts";

test("if a run is interrupted while it checks recall, the index stays, and the next run only checks it", async () => {
  const folder = temporaryFolder();
  const write = (file: string, step: object) =>
    writeFileSync(join(folder, file), `export const up = ${JSON.stringify([step])};\n`);
  write("0001_docs.mjs", createTable("docs", { id: int64(), at: vector(2) }));
  const target = await open({ kind: "lance", uri: temporaryFolder() }, { name: "local", folder });
  const calls: string[] = [];
  const stopping = new AbortController();
  const events: RunEvent[] = [];
  const { rows } = target;
  const options = {
    target: {
      ...target,
      execute: async (...[action, seen]: Parameters<typeof target.execute>) => {
        calls.push(action.kind);
        return await target.execute(action, seen);
      },
      rows: {
        ...rows!,
        nearest: async (...asked: Parameters<NonNullable<typeof rows>["nearest"]>) => {
          stopping.abort();
          return await rows!.nearest(...asked);
        },
      },
    },
    migrations: migrationsIn(folder),
    ledger: "_migrations",
    computing: embed.computing,
    lease: { duration: 30_000, patience: 30_000 },
    emit: (event: RunEvent) => void events.push(event),
  };
  await up(options, {});
  const docs = await target.describeTable("docs");
  const all = Array.from({ length: 50 }, (_, id) => ({ id, at: [id, id * id] }));
  await rows!.append("docs", { columns: docs!.table.columns, rows: all });
  write("0002_index.mjs", createIndex("docs", "at", ivfFlat({ numPartitions: 1 }), { minRecall: 1, sample: 5 }));
  calls.length = 0;
  await expect(up({ ...options, signal: stopping.signal }, {})).rejects.toMatchObject({
    code: "ERR_INTERRUPTED",
    message: expect.stringContaining("index at_idx of docs is built, and its recall is not checked yet"),
  });
  const indexes = async () => Object.keys((await target.describeTable("docs", true))!.table.indexes ?? {});
  expect(await indexes()).toEqual(["at_idx"]);
  expect(await up(options, {})).toMatchObject({ applied: 1 });
  expect(calls).toEqual(["createIndex"]);
  expect(await indexes()).toEqual(["at_idx"]);
  expect(events.findLast(({ event }) => event === "recall")).toMatchObject({
    table: "docs",
    index: "at_idx",
    k: 10,
    recall: 1,
    sampled: 5,
  });
  await target.close();
});
