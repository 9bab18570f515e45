/** A drop of a table that is killed at any moment has happened, or not. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { Action } from "../../src/actions/model/action.ts";
import { columnsOf, int32 } from "../../src/schema/declare/type-builders.ts";
import { open } from "../../src/targets/lance/lance.ts";
import { bundled } from "../support/bundled.ts";
import { recordsOf } from "../support/ledger.ts";
import { startNode, temporaryFolder } from "../support/project.ts";
import { rounds } from "../support/rounds.ts";
import { lancedb } from "../support/tables.ts";

const create: Action = { kind: "createTable", table: "t", columns: columnsOf({ z: int32() }) };
const kills = rounds(4, 30);
const victim = await bundled(fileURLToPath(new URL("drop-victim.ts", import.meta.url)));
const openAt = (folder: string) => open({ kind: "lance", uri: folder }, { name: "test", folder });
const filesIn = (folder: string) => readdirSync(folder, { recursive: true, withFileTypes: true });

test("a drop that is killed leaves the whole table or none of it, its name is free, and a later run removes what is left", async () => {
  const origin = temporaryFolder();
  const table = await (await lancedb.connect(origin)).createTable("t", [{ a: 0 }]);
  for (let row = 1; row < 20; row++) await table.add([{ a: row }]);
  // So that removing the files takes long enough.
  for (let file = 0; file < 20_000; file++) writeFileSync(join(origin, "t.lance", "data", `${file}.lance`), "");
  const whole = filesIn(join(origin, "t.lance")).length;
  for (let kill = 0; kill < kills; kill++) {
    const folder = temporaryFolder();
    // The engine never changes a file that it has written, so links are as good as copies.
    execFileSync("cp", ["-al", `${origin}/.`, folder]);
    const { process, finished } = startNode([victim, folder], folder);
    await new Promise<void>((resolve) => process.stdout?.once("data", () => resolve()));
    await pause((kill / kills) * 300);
    process.kill("SIGKILL");
    expect((await finished).stderr).toBe("");
    const home = join(folder, "t.lance");
    expect(existsSync(home) ? filesIn(home).length : 0, `kill ${kill}`).toBeOneOf([0, whole]);
    const target = await openAt(folder);
    const seen = await target.describeTable("t");
    if (seen !== undefined) await target.execute({ kind: "dropTable", table: "t" }, seen);
    expect(await target.execute(create, undefined)).toEqual({ version: 1 });
    const ledger = recordsOf(target, "_migrations");
    await ledger.create();
    await ledger.compact();
    await target.close();
    expect(readdirSync(folder).toSorted()).toEqual(["_migrations.lance", "t.lance"]);
  }
});

test("files of a table whose drop another program did not end are named where a table of that name is created", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "t.lance", "data"), { recursive: true });
  writeFileSync(join(folder, "t.lance", "data", "a.lance"), "");
  const target = await openAt(folder);
  const creating = target.execute(create, undefined);
  await expect(creating).rejects.toThrow(
    `${join(folder, "t.lance")} has files but no table: a drop of t did not end, or another program is creating it; if no program is doing either, remove that folder`,
  );
  expect(existsSync(join(folder, "t.lance", "data", "a.lance"))).toBe(true);
  await target.close();
});
