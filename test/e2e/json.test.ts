/** With --json: stdout is for programs. One document, or for `up` one event a line, and nothing else. */
import { beforeAll, describe, expect, test } from "vitest";
import { manyProjects, type SmallProject } from "./support/many-projects.ts";

const { project } = manyProjects();

const migration = (steps: string) => `import * as m from "lance-migrate";\n\nexport const up = [${steps}];\n`;
const first = {
  "migrations/0001_documents.ts": migration(`m.createTable("documents", { id: m.int32(), title: m.utf8() })`),
};
const second = {
  "migrations/0002_headlines.ts": migration(
    `m.renameColumn("documents", "title", "headline"), m.retypeColumn("documents", "id", m.int64())`,
  ),
};

const hash = expect.stringMatching(/^[0-9a-f]{64}$/);
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const somebody = expect.stringMatching(/^\S+@\S+ \(process \d+\)$/);
const number = expect.any(Number);

/** The one document that a command prints. */
async function documentOf(runner: SmallProject, args: readonly string[], exitCode = 0): Promise<unknown> {
  const { code, stdout, stderr } = await runner.migrate([...args, "--json"]);
  expect({ code, stderr }).toMatchObject({ code: exitCode });
  expect(stdout).toMatch(/^[^\n]+\n$/);
  return JSON.parse(stdout);
}

function eventsOf(stdout: string): readonly Record<string, unknown>[] {
  expect(stdout.endsWith("\n")).toBe(true);
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe("one document", () => {
  let half: SmallProject;
  beforeAll(async () => {
    half = project({ ...first, ...second });
    expect(await half.migrate(["up", "--to", "1"])).toMatchObject({ code: 0 });
  });

  test("is what status prints", async () => {
    expect(await documentOf(half, ["status"])).toEqual({
      target: "local",
      applied: [
        {
          version: 1,
          name: "documents",
          at: time,
          duration: number,
          by: somebody,
          checksum: hash,
          baselined: false,
          missing: false,
        },
      ],
      reverting: [],
      begun: [],
      changed: [],
      pending: [
        {
          version: 2,
          name: "headlines",
          file: "0002_headlines.ts",
          done: 0,
          inDoubt: false,
          underWay: false,
          preparing: [],
        },
      ],
      doubts: [],
      late: [],
      deferred: [],
      stale: [],
    });
  });

  test("is what plan prints", async () => {
    const place = (step: number, kind: string) => ({ step, kind });
    const alteration = (change: object) => ({ kind: "alterColumns", table: "documents", alterations: [change] });
    const free = (versions: number) => ({ rows: 0, bytes: 0, added: 0, indexes: [], versions });
    const call = (path: string, rest: object) => `documents.alterColumns([${JSON.stringify({ path, ...rest })}])`;
    const guarded = (type: string) => [
      expect.stringMatching(/^documents\.addColumns\(/),
      call("id", { dataType: { type } }),
      expect.stringMatching(/^documents\.dropColumns\(/),
    ];
    expect(await documentOf(half, ["plan"])).toEqual({
      target: "local",
      direction: "up",
      verdict: "ready",
      pending: [
        {
          version: 2,
          name: "headlines",
          file: "0002_headlines.ts",
          checksum: hash,
          steps: [expect.stringMatching(/^[0-9a-f]{16}$/), expect.stringMatching(/^[0-9a-f]{16}$/)],
          done: 0,
          total: 2,
          actions: [
            {
              ...place(1, "renameColumn"),
              text: "rename documents.title to headline",
              calls: [call("title", { rename: "headline" })],
              cost: free(1),
              risks: [],
              action: alteration({ path: "title", rename: "headline" }),
              rollback: {
                class: "exact",
                actions: [alteration({ path: "headline", rename: "title" })],
                text: "rename documents.headline to title",
                calls: [call("headline", { rename: "title" })],
                cost: free(1),
              },
            },
            {
              ...place(2, "retypeColumn"),
              text: "retype documents.id to int64",
              commits: [
                { text: expect.stringContaining("guard"), action: expect.objectContaining({ kind: "addColumns" }) },
                { text: "retype documents.id to int64", action: alteration({ path: "id", type: { kind: "int64" } }) },
                { text: expect.stringContaining("guard"), action: expect.objectContaining({ kind: "dropColumns" }) },
              ],
              calls: guarded("int64"),
              cost: free(3),
              risks: [{ kind: "writers", text: expect.stringContaining("documents.id is nullable") }],
              action: alteration({ path: "id", type: { kind: "int64" } }),
              rollback: {
                class: "checked",
                actions: [alteration({ path: "id", type: { kind: "int32" } })],
                text: "retype documents.id to int32",
                calls: guarded("int32"),
                cost: free(3),
                reason: "refused if values of documents.id would change as int32",
              },
            },
          ],
        },
      ],
      totals: { migrations: 1, actions: 2, ...free(4) },
    });
  });

  test("is what rehearse prints", async () => {
    const step = (at: number, kind: string, text: string, is: string) => {
      const tried = { class: is, verdict: "kept", up: number, down: number };
      return { step: at, kind, text, ...tried };
    };
    expect(await documentOf(half, ["rehearse"])).toEqual({
      target: "local",
      tables: [{ table: "documents", rows: 0, cloned: true }],
      migrations: [
        {
          version: 2,
          name: "headlines",
          steps: [
            step(1, "renameColumn", "rename documents.title to headline", "exact"),
            step(2, "retypeColumn", "retype documents.id to int64", "checked"),
          ],
          durations: { up: number, down: number, again: number },
        },
      ],
      unreached: [],
    });
  });

  test("is what lint prints", async () => {
    expect(await documentOf(half, ["lint"])).toEqual({
      files: 2,
      problems: [],
      losses: [],
      findings: [
        {
          file: "migrations/0002_headlines.ts",
          line: 3,
          column: 70,
          rule: "full-rewrite",
          severity: "note",
          message: expect.stringContaining("rewrites id in every row of documents"),
        },
      ],
    });
    const bad = project({ ...first, "migrations/0002_bad.ts": migration("5"), "migrations/0003_bad.ts": "" });
    expect(await documentOf(bad, ["lint"], 4)).toEqual({
      files: 3,
      problems: [
        {
          code: "ERR_STEP_INVALID",
          message: expect.stringContaining("0002_bad.ts, step 1"),
          details: expect.objectContaining({ file: "0002_bad.ts", step: 1 }),
        },
        {
          code: "ERR_FILE_EXPORTS",
          message: expect.stringContaining("0003_bad.ts exports no up"),
          details: expect.objectContaining({ file: "0003_bad.ts" }),
        },
      ],
      losses: [],
      findings: [
        expect.objectContaining({ file: "migrations/0002_bad.ts", line: 3, column: 14, rule: "ERR_STEP_INVALID" }),
        expect.objectContaining({ file: "migrations/0003_bad.ts", line: 1, column: 1, rule: "ERR_FILE_EXPORTS" }),
      ],
    });
  });
});

describe("events of up", () => {
  test("are one a line, in the order of what happens", async () => {
    const fresh = project({ ...first, ...second });
    const { code, stdout, stderr } = await fresh.migrate(["up", "--json", "--step-by-step"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const action = (event: string, version: number, at: number, total: number, text: unknown) => ({
      event,
      version,
      name: version === 1 ? "documents" : "headlines",
      action: at,
      total,
      text,
      ...(event === "done" ? { duration: number } : {}),
    });
    const create = expect.stringMatching(/^create table documents/);
    const rename = "rename documents.title to headline";
    const retype = "retype documents.id to int64";
    // How often a slow action tells that it is still running depends on the machine.
    expect(eventsOf(stdout).filter(({ event }) => event !== "running")).toEqual([
      { event: "taking" },
      {
        event: "planned",
        direction: "up",
        migrations: [
          { version: 1, name: "documents" },
          { version: 2, name: "headlines" },
        ],
        actions: 3,
        risks: [expect.objectContaining({ kind: "writers" })],
        newDatabase: expect.stringMatching(/\.lancedb$/),
      },
      { event: "started", direction: "up", version: 1, name: "documents", done: 0, total: 1 },
      action("action", 1, 1, 1, create),
      action("done", 1, 1, 1, create),
      { event: "applied", version: 1, name: "documents", duration: number },
      { event: "started", direction: "up", version: 2, name: "headlines", done: 0, total: 2 },
      action("action", 2, 1, 2, rename),
      action("done", 2, 1, 2, rename),
      action("action", 2, 2, 2, retype),
      action("done", 2, 2, 2, retype),
      { event: "applied", version: 2, name: "headlines", duration: number },
      { event: "finished", applied: 2, duration: number },
    ]);
  });

  test("state which migrations ran as a group", async () => {
    const fresh = project({ ...first, ...second });
    // The call rewrites no rows, although a step would.
    const unwritten = { risks: [], action: expect.anything() };
    expect(await documentOf(fresh, ["plan"])).toMatchObject({
      pending: [{ actions: [unwritten] }, { actions: [unwritten, unwritten] }],
      groups: [{ versions: [1, 2], total: 1 }],
    });
    const { stdout } = await fresh.migrate(["up", "--json"]);
    const events = eventsOf(stdout).filter(({ event }) => event !== "running");
    const text = "create table documents (id int64, headline utf8)";
    const call = { version: 2, name: "headlines", action: 2, total: 2, text };
    const migrations = [
      { version: 1, name: "documents" },
      { version: 2, name: "headlines" },
    ];
    expect(events.slice(2)).toEqual([
      { event: "group", migrations, calls: 1 },
      { event: "action", ...call },
      { event: "done", ...call, duration: number },
      { event: "applied", version: 1, name: "documents", duration: number, group: 2 },
      { event: "applied", version: 2, name: "headlines", duration: number, group: 2 },
      { event: "finished", applied: 2, duration: number },
    ]);
  });
});
