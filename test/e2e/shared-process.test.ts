/** Commands that share a process say and do what each does in its own: other tests rely on it. */
import { expect, test } from "vitest";
import { aProject, type Finished, type Processes } from "../support/project.ts";
import { columnsOf } from "../support/tables.ts";

const commands: readonly (readonly string[])[] = [
  ["status"],
  ["plan"],
  ["up", "--to", "1"],
  ["up", "--quiet"],
  ["status", "--check"],
  ["plan", "--down", "--json"],
  ["down"],
  ["nonsense"],
  ["up", "--json", "--json"],
  ["lint"],
  ["verify", "--ledger"],
  ["status", "--json"],
  ["--version"],
];

/** What each command ends with, without what time decides. */
async function outcomes(processes: Processes): Promise<unknown> {
  const project = aProject(processes);
  project.migration("0001_people.ts", `m.createTable("people", { id: m.int32() })`);
  project.migration("0002_wider.ts", `m.retypeColumn("people", "id", m.int64())`);
  const all: Finished[] = [];
  const run = async (args: readonly string[], env?: Readonly<Record<string, string>>) =>
    void all.push(await project.migrate(args, env));
  for (const args of commands) await run(args);
  // An edited file is read again, and what it prints or leaves behind is its command's own.
  project.write(
    "migrations/0002_wider.ts",
    `console.log("hello"); setTimeout(() => {}, 60_000); export const up = [{}];`,
  );
  await run(["plan"]);
  project.write("migrations/0002_wider.ts", `console.log(process.env.SAID); export const up = [];`);
  await run(["lint"], { SAID: "here" });
  project.write("migrations/0002_wider.ts", `console.log(typeof process.env.SAID); export const up = [];`);
  await run(["lint"]);
  project.write(
    "migrations/0002_wider.ts",
    `setTimeout(() => { throw new Error("late"); }); await new Promise(() => {});`,
  );
  await run(["plan"]);
  project.migration("0002_wider.ts", `m.renameColumn("people", "id", "key")`);
  await run(["up", "--verbose"]);
  const columns = await columnsOf(project.database, "people");
  const chance = /\d+ m?s\b|"duration\\":\d+|\d{4}-\d\d-\d\d[T ][\d:.]+|process \d+/g;
  return { columns, all: all.map((one) => JSON.stringify(one).replaceAll(chance, "…")) };
}

test("commands in one process print, end and do the same as in one of their own each", async () => {
  const [shared, own] = [await outcomes("shared"), await outcomes("own")];
  expect(shared).toEqual(own);
});

test("a command that is started while another is at work has its own process", async () => {
  const project = aProject();
  project.migration("0001_people.ts", `m.createTable("people", { id: m.int32() })`);
  const ends = await Promise.all([1, 2, 3].map(async () => await project.migrate(["status"])));
  expect(new Set(ends.map((one) => JSON.stringify(one))).size).toBe(1);
  expect(ends[0]).toMatchObject({ code: 0, stderr: "" });
});
