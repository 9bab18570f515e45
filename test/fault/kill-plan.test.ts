/** A run that carries out a saved plan, killed at each of its calls: what was under way is in doubt, and the next run goes on. */
import { cpSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aProject, leaping, temporaryFolder } from "../support/project.ts";
import { isLong, rounds } from "../support/rounds.ts";
import { aService, apiKey } from "../support/service.ts";
import { columnsOf } from "../support/tables.ts";
import { startVictim } from "./start-victim.ts";

const every = rounds(22, 1);

test.each([
  ["lance", 1],
  ["service", 4],
  ["namespace", 7],
] as const)("wherever it is killed, the next run ends right, on %s", async (way, first) => {
  const data = temporaryFolder();
  const service = way === "lance" ? undefined : await aService(data);
  const target =
    service === undefined
      ? ({ kind: "lance", uri: data } as const)
      : ({ kind: "rest", endpoint: service.url, apiKey, dialect: way as "service" } as const);
  const project = aProject();
  project.write("migrate.config.ts", `export default { targets: { here: ${JSON.stringify(target)} } };\n`);
  project.migration("0001_create.ts", `m.createTable("t", { a: m.int32(), b: m.utf8() }),`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  project.migration(
    "0002_change.ts",
    `m.renameColumn("t", "a", "c"), m.retypeColumn("t", "c", m.int64()), m.renameColumn("t", "b", "a"),`,
  );
  const origin = temporaryFolder();
  cpSync(data, origin, { recursive: true });
  let killed = 0;
  for (let call = isLong ? 1 : first; ; call += every) {
    // What is in the folder: a service notices when the folder is another one.
    for (const name of readdirSync(data)) rmSync(join(data, name), { recursive: true });
    cpSync(origin, data, { recursive: true });
    const death = { call, place: "after" as const };
    const order = { migrations: join(project.folder, "migrations"), target, saved: true, death };
    const { code, stdout, stderr } = await startVictim(order, project.folder).finished;
    if (code === 0) break;
    expect(code, stderr).toBeNull();
    killed++;
    const next = await project.migrate(["up"], leaping());
    expect({ call, stdout, code: next.code }, next.stderr).toEqual({ call, stdout, code: 0 });
    expect(await columnsOf(data, "t")).toEqual(["c: int64", "a: utf8"]);
  }
  expect(killed).toBeGreaterThan(12 / every);
});
