/** Where no database can be: the sentences name the path. */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { lazyConnection } from "../../../../src/targets/lance/connection.ts";
import { lacks } from "../../../support/needs.ts";
import { temporaryFolder } from "../../../support/project.ts";

const connectionTo = (folder: string) =>
  lazyConnection({ uri: folder, folder }, () => Promise.resolve({ close: () => {} }));

/** Root may read every folder, so nobody does it then. */
const isRoot = process.getuid?.() === 0;
function asUser(code: string) {
  const nobody = isRoot ? { uid: 65534 } : {};
  return spawnSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8", ...nobody });
}
const module = JSON.stringify(new URL("../../../../src/targets/lance/connection.ts", import.meta.url));
const tried = asUser(`await import(${module})`);
const missing = tried.status === 0 ? undefined : `nobody can't read the repository: ${tried.stderr}`;

test.skipIf(lacks("user", missing))("a folder that this user may not read is named, as the engine does not", () => {
  const folder = temporaryFolder();
  chmodSync(folder, 0o000);
  const location = JSON.stringify({ uri: folder, folder });
  const { stderr } = asUser(`const { lazyConnection } = await import(${module});
await lazyConnection(${location}, async () => ({ close() {} })).get();`);
  expect(stderr).toContain(`EACCES: permission denied, access '${folder}'`);
});

test("the folder of a table, and what is in it, is no database", async () => {
  const database = temporaryFolder();
  const table = join(database, "people.lance");
  mkdirSync(join(table, "_versions"), { recursive: true });
  for (const folder of [table, join(table, "data"), join(table, "absent", "deep")])
    await expect(connectionTo(folder).get()).rejects.toThrow(
      `${table} is the folder of a table; the database is ${database}`,
    );
  // A database may have such a name.
  const named = join(database, "mine.lance");
  mkdirSync(named);
  await expect(connectionTo(named).get()).resolves.toBeDefined();
  writeFileSync(join(named, "file"), "");
  await expect(connectionTo(join(named, "file", "db")).get()).rejects.toThrow("is a file");
});
