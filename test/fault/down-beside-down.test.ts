/** Two runs of `down` at once on a real folder: the slower one sees what the other has done, and says nothing else. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { migrationsIn } from "../../src/migrations/source.ts";
import { down, type DownChoice } from "../../src/commands/down.ts";
import { up } from "../../src/commands/up.ts";
import type { MigratorOptions } from "../../src/run/run-context.ts";
import { int32, int64 } from "../../src/schema/declare/type-builders.ts";
import { createTable, dropColumn, retypeColumn } from "../../src/steps/index.ts";
import type { Step } from "../../src/steps/registry.ts";
import { open } from "../../src/targets/lance/lance.ts";
import type { Target } from "../../src/targets/contract/target.ts";
import type { Versions } from "../../src/targets/contract/versions.ts";
import { temporaryFolder } from "../support/project.ts";

async function aDatabase(): Promise<MigratorOptions> {
  const folder = temporaryFolder();
  const files = join(folder, "migrations");
  mkdirSync(files);
  const toFile = (file: string, all: readonly Step[]) =>
    writeFileSync(join(files, file), `export const up = ${JSON.stringify(all)};\n`);
  toFile("0001_create.mjs", [createTable("t", { id: int32().notNull(), x: int32() })]);
  toFile("0002_change.mjs", [retypeColumn("t", "x", int64()), dropColumn("t", "id")]);
  const target = await open({ kind: "lance", uri: folder }, { name: "folder", folder });
  const lease = { duration: 30_000, patience: 5_000 };
  const options: MigratorOptions = { target, migrations: migrationsIn(files), ledger: "_migrations", lease };
  await up(options);
  return options;
}

/** The same target, on which something happens right before versions are asked for the first time. */
function before(asked: keyof Versions, target: Target, happen: () => Promise<unknown>): Target {
  let isFirst = true;
  const once = async () => {
    if (!isFirst) return;
    isFirst = false;
    await happen();
  };
  const versions = target.versions!;
  const asking = async (...given: readonly unknown[]) => {
    await once();
    return await (versions[asked] as (...given: readonly unknown[]) => Promise<unknown>)(...given);
  };
  return { ...target, versions: { ...versions, [asked]: asking } };
}

const questions = ["look", "time", "since"] as const;
const consents: readonly DownChoice[] = [{}, { accept: ["lossy"] }];

test.each(questions.flatMap((asked) => consents.map((choice) => [asked, choice] as const)))(
  "a table that another run of down drops before its versions are asked for (%s, %j) is no error",
  async (asked, choice) => {
    const options = await aDatabase();
    const others: unknown[] = [];
    const target = before(asked, options.target, async () => others.push(await down(options, { to: 0, ...choice })));
    expect(await down({ ...options, target }, { to: 0, ...choice })).toEqual({ reverted: 0, total: 0 });
    expect(others).toEqual([{ reverted: 2, total: 0 }]);
  },
);
