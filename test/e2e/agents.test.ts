/** AGENTS.md, which `migrate init --agents` writes, carried out word for word. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aProject } from "../support/project.ts";
import { columnsOf } from "../support/tables.ts";

test("its commands work in their order, in a project that has just been set up", async () => {
  const project = aProject();
  project.migration("0001_documents.ts", `m.createTable("documents", { id: m.int64() })`);
  expect(await project.migrate(["init", "--yes", "--agents"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const page = readFileSync(join(project.folder, "AGENTS.md"), "utf8");
  const commands = [...page.matchAll(/```sh\n([^]*?)```/g)].flatMap(([, block]) => block!.trim().split("\n"));
  expect(commands).toHaveLength(10);
  for (const command of commands) {
    const [program, name, ...args] = command.trim().split(" ");
    expect([program, name]).toEqual(["npx", "migrate"]);
    const { code, stdout, stderr } = await project.migrate(args);
    expect([command, code, stderr]).toEqual([command, 0, expect.not.stringContaining("ERR_")]);
    if (args[0] === "plan") expect(stdout).toMatch(/\nverdict: ready\n$/);
  }
  expect(await columnsOf(project.database, "documents")).toEqual(["id: int64", "language: utf8"]);
  // What is named in its sentences exists too.
  for (const [, name] of page.matchAll(/`npx migrate ([a-z]+)/g))
    expect(await project.migrate([name!, "--help"])).toMatchObject({ code: 0 });
});

test("an own AGENTS.md stays", async () => {
  const project = aProject();
  writeFileSync(join(project.folder, "AGENTS.md"), "own\n");
  expect(await project.migrate(["init", "--yes", "--agents"])).toMatchObject({ code: 0 });
  expect(readFileSync(join(project.folder, "AGENTS.md"), "utf8")).toBe("own\n");
});
