/** A run that carries out a saved plan, killed at each of its calls: the same command, and the one without a plan, finish it. */
import { cpSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aProject, leaping, temporaryFolder } from "../support/project.ts";
import { isLong, ofThisCommit, rounds } from "../support/rounds.ts";
import { aService, apiKey } from "../support/service.ts";
import { columnsOf } from "../support/tables.ts";
import { startVictim } from "./start-victim.ts";

const every = rounds(22, 1);

const before = ["a: int32", "b: utf8"];
const after = ["c: int64", "a: utf8"];

/** For each commit one of these, and for the next commit another. */
const ways = ofThisCommit(
  [
    ["lance", "up", 1],
    ["lance", "down", 8],
    ["service", "down", 12],
    ["service", "up", 4],
    ["namespace", "down", 3],
    ["namespace", "up", 7],
  ] as const,
  6,
);

test.each(ways)("wherever it is killed, the next run ends right, on %s (%s)", async (way, direction, first) => {
  const data = temporaryFolder();
  const service = way === "lance" ? undefined : await aService(data);
  const target =
    service === undefined
      ? ({ kind: "lance", uri: data } as const)
      : ({ kind: "rest", endpoint: service.url, apiKey, dialect: way as "service" } as const);
  const project = aProject();
  project.write("migrate.config.ts", `export default { targets: { matrix: ${JSON.stringify(target)} } };\n`);
  project.migration("0001_create.ts", `m.createTable("t", { a: m.int32(), b: m.utf8() }),`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  project.migration("0002_change.ts", `m.renameColumn("t", "a", "c"), m.retypeColumn("t", "c", m.int64()),`);
  project.migration("0003_swap.ts", `m.renameColumn("t", "b", "a"),`);
  const isBack = direction === "down";
  if (isBack) expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const choice = isBack ? ["--down", "--steps", "2"] : [];
  expect(await project.migrate(["plan", ...choice, "--out", "plan.json"])).toMatchObject({ code: 0 });
  const plan = join(project.folder, "plan.json");
  const origin = temporaryFolder();
  cpSync(data, origin, { recursive: true });
  let killed = 0;
  for (let call = isLong ? 1 : first; ; call += every) {
    for (const args of isLong || call % 2 === 1 ? [["--plan", plan], []] : [["--plan", plan]]) {
      // What is in the folder: a service notices when the folder is another one.
      for (const name of readdirSync(data)) rmSync(join(data, name), { recursive: true });
      cpSync(origin, data, { recursive: true });
      const death = { call, place: "after" as const };
      const order = { migrations: join(project.folder, "migrations"), target, plan, death };
      const { code, stdout, stderr } = await startVictim(order, project.folder).finished;
      if (code === 0) {
        expect(killed).toBeGreaterThan(12 / every);
        return;
      }
      expect(code, stderr).toBeNull();
      killed++;
      // A rollback may not have begun.
      const next = isBack && args.length === 0 ? ["--to", "1"] : args;
      const again = await project.migrate([direction, ...next], leaping());
      expect({ call, args, stdout, code: again.code }, again.stderr).toEqual({ call, args, stdout, code: 0 });
      expect(await columnsOf(data, "t")).toEqual(isBack ? before : after);
      const repeated = await project.migrate([direction, "--plan", plan], leaping());
      if (args.length > 0) expect(repeated).toMatchObject({ code: 0, stdout: expect.stringMatching(/^nothing to /) });
    }
  }
});
