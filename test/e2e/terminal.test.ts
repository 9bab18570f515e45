/** How output is laid out and coloured for a terminal. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { aProject, root, type Project } from "../support/project.ts";
import { hasTerminal, onTerminal, withoutColours } from "./support/terminal.ts";

let project: Project;

beforeAll(async () => {
  project = aProject();
  project.migration(
    "0001_documents.ts",
    `m.createTable("documents", { id: m.int32().notNull() }, { rows: [{ id: 1 }] })`,
  );
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  project.migration(
    "0002_no.ts",
    `m.addColumn("documents", "lang", m.utf8()),\nm.addColumn("documents", "n", m.int32(), { as: "nofunc(id)" })`,
  );
  expect(await project.migrate(["up"])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/failed: Invalid function 'nofunc'; 1 of 2 .* \(ERR_STEP_FAILED\)\n$/),
  });
});

const plain = { NO_COLOR: "1" };
const linesOf = (shown: string) => shown.split("\r\n").slice(0, -1);

test.skipIf(!hasTerminal)("status shows an error in one line under its row, as wide as the terminal", () => {
  const [applied, pending, error, summary, ...more] = linesOf(
    onTerminal(project, "migrate status", { env: plain, columns: 60 }),
  );
  expect(applied).toMatch(/^applied {2}0001_documents {2}/);
  expect([pending, error, summary, ...more]).toEqual([
    "pending  0002_no",
    "         1 of 2 actions done",
    "         0002_no.ts, step 2 (addColumn) failed: Invalid fu …",
    "1 migration applied, 1 pending on local",
  ]);
});

test.skipIf(!hasTerminal)("a long line breaks between words, and continues further in", () => {
  const lines = linesOf(onTerminal(project, "migrate down --to 7", { env: plain, columns: 40 }));
  expect(lines.length).toBeGreaterThan(1);
  expect(lines.filter((line) => line.length > 40)).toEqual([]);
  expect(lines.slice(1).every((line) => line.startsWith("  "))).toBe(true);
});

test.skipIf(!hasTerminal).each([["> out.txt"], ["2> out.txt"]])(
  "each stream is coloured only if it is a terminal: %s",
  (where) => {
    const shown = onTerminal(project, `migrate plan ${where}`);
    expect([shown, readFileSync(join(project.folder, "out.txt"), "utf8")]).toEqual([
      expect.stringContaining("\u001b[31m"),
      expect.not.stringContaining("\u001b"),
    ]);
  },
);

test.each<readonly [string, NodeJS.ProcessEnv, readonly string[], boolean]>([
  ["FORCE_COLOR", { FORCE_COLOR: "1" }, [], true],
  ["nothing", {}, [], false],
  ["--no-color", { FORCE_COLOR: "1" }, ["--no-color"], false],
])("without a terminal, %s decides", (_, env, args, isColoured) => {
  const { stdout, stderr } = spawnSync(process.execPath, [join(root, "dist/bin.js"), "plan", ...args], {
    cwd: project.folder,
    env: { ...withoutColours(), ...env },
    encoding: "utf8",
  });
  expect([stdout, stderr].map((text) => text.includes("\u001b[31m"))).toEqual([isColoured, isColoured]);
});
