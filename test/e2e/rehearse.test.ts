/** Trying the plan on a copy, with the built command; and that nothing that lives is touched by it. */
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { embed } from "../../src/features/embed/feature.ts";
import { rest } from "../../src/features/rest/feature.ts";
import { openSession } from "../../src/session/session.ts";
import { openScratch } from "../../src/targets/index.ts";
import type { Scratch } from "../../src/targets/contract/target.ts";
import { rehearse, type Rehearsal, type RehearsedStep } from "../../src/features/rehearse/rehearse.ts";
import type { RunEvent } from "../../src/run/events.ts";
import { filesOf } from "../support/files.ts";
import { addRows, lancedb } from "../support/tables.ts";
import { aProjectOn, key, type Way } from "./support/project-on.ts";
import { onStderr } from "../support/project.ts";

const create = `m.createTable("documents", {
  id: m.int32().notNull(), title: m.utf8(), score: m.float64(), body: m.utf8(),
}),`;
const rows = [
  { id: 1, title: "one", score: 0.1, body: "a" },
  { id: 2, title: "two", score: -0, body: null },
  { id: 3, title: "three", score: Number.NaN, body: "c" },
  { id: 4, title: "four", score: 1e300, body: "" },
];

/** A project whose temporary files can be counted, with one migration that has run and rows. */
async function aProject(way: Way = "lance", first = create) {
  const project = await aProjectOn(way);
  const temporary = join(project.folder, "temporary");
  mkdirSync(temporary);
  const env = { ...key, TMPDIR: temporary };
  const migrate = async (args: readonly string[]) => await project.migrate(args, env);
  project.migration("0001_create.ts", first);
  expect(await migrate(["up"])).toMatchObject({ code: 0 });
  if (first === create) await addRows(project.data, "documents", rows);
  return { ...project, migrate, start: (args: readonly string[]) => project.start(args, env), temporary };
}

/** The copies there are; what else is there the engine has made for itself, as it does in every command. */
function copiesIn(temporary: string): readonly string[] {
  return readdirSync(temporary).filter((name) => name.startsWith("lance-migrate-"));
}

type Rehearsed = Awaited<ReturnType<typeof aProject>>;

/** The document of a rehearsal, by which nothing that lives is changed and nothing is left behind. */
async function rehearsed({ migrate, data, temporary }: Rehearsed, code = 0, ...flags: readonly string[]) {
  const before = filesOf(data);
  const ended = await migrate(["rehearse", "--json", ...flags]);
  expect(ended).toMatchObject({ code });
  expect(filesOf(data)).toEqual(before);
  expect(copiesIn(temporary)).toEqual([]);
  return JSON.parse(ended.stdout) as Omit<Rehearsal, "problem"> & { readonly problem?: { message: string } };
}

/** Where its service is, as its configuration says. */
function endpointOf({ folder }: Rehearsed): string {
  return /http:[^"]+/.exec(readFileSync(join(folder, "migrate.config.ts"), "utf8"))![0];
}

function stepsOf({ migrations }: Pick<Rehearsal, "migrations">): readonly RehearsedStep[] {
  return migrations.flatMap(({ steps }) => steps);
}

const verdicts = (found: Pick<Rehearsal, "migrations">) =>
  stepsOf(found).map((step) => `${step.kind} ${step.class}: ${step.verdict}`);

describe("on a folder", () => {
  test("every kind of step is tried, with the live rows, and the live tables are not touched", async () => {
    const project = await aProject();
    project.migration(
      "0002_exact.ts",
      `m.renameColumn("documents", "title", "headline"), m.retypeColumn("documents", "id", m.int64()),
       m.addColumn("documents", "n", m.int32()), m.setNullable("documents", "id", true),
       m.createIndex("documents", "id", m.btree()), m.setMetadata("documents", "score", { unit: "m" }),`,
    );
    project.migration(
      "0003_lossy.ts",
      `m.retypeColumn("documents", "score", m.float32()), m.dropColumn("documents", "body"),
       m.execute("documents", { update: { headline: "'same'" }, where: "id > 1" }),
       m.execute("documents", { delete: "id > 3" }),`,
    );
    project.migration(
      "0004_tables.ts",
      `m.createTable("authors", { name: m.utf8() }), m.insertRows("authors", [{ name: "x" }], { key: "name" }),`,
    );
    project.migration("0005_swap.ts", `m.alterColumns("documents", [{ path: "n", rename: "m" }]),`);
    project.migration("0006_gone.ts", `m.dropTable("authors"),`);
    const found = await rehearsed(project, 4);
    expect(found.tables).toEqual([{ table: "documents", rows: 4, cloned: true }]);
    expect(verdicts(found)).toEqual([
      "renameColumn exact: kept",
      "retypeColumn checked: kept",
      "addColumn checked: kept",
      "setNullable checked: kept",
      "createIndex exact: kept",
      "setMetadata exact: kept",
      "retypeColumn restore: kept",
      "dropColumn restore: kept",
      "execute restore: kept",
      "execute restore: kept",
      "createTable checked: kept",
      "insertRows exact: kept",
      "alterColumns exact: kept",
      "dropTable none: untried",
    ]);
    // The real up would ask for consent; a rehearsal loses nothing.
    expect(stepsOf(found)[6]!.refusal).toMatchObject({ reason: "consent", consent: "lossy" });
    for (const { durations, version } of found.migrations)
      expect(durations).toMatchObject(
        version === 6
          ? { up: expect.any(Number) }
          : { up: expect.any(Number), down: expect.any(Number), again: expect.any(Number) },
      );
    for (const step of stepsOf(found)) expect(step.up).toEqual(expect.any(Number));
    expect(stepsOf(found)[0]!.down).toEqual(expect.any(Number));
  });

  test("each action that it states to run is stated to be done", async () => {
    const { migration, folder } = await aProject();
    migration("0002_more.ts", `m.renameColumn("documents", "title", "headline"), m.dropColumn("documents", "body"),`);
    const { options, close } = await openSession({ folder }, [embed]);
    const seen: string[] = [];
    const emit = (event: RunEvent) => "text" in event && seen.push(`${event.event} ${event.text}`);
    await rehearse({ ...options, emit }, {}, openScratch);
    await close();
    const ran = (event: string) =>
      seen.filter((text) => text.startsWith(`${event} `)).map((text) => text.slice(event.length));
    expect(ran("action").length).toBeGreaterThan(4);
    expect(ran("done")).toEqual(ran("action"));
  });

  test("it is said in words, step by step, also that there is nothing to rehearse", async () => {
    const project = await aProject();
    expect(await project.migrate(["rehearse"])).toEqual({ code: 0, stdout: "nothing to rehearse\n", stderr: "" });
    project.migration("0002_more.ts", `m.renameColumn("documents", "title", "headline"),`);
    project.migration("0003_lossy.ts", `m.dropColumn("documents", "body"),`);
    const { code, stdout, stderr } = await project.migrate(["rehearse"]);
    expect({ code, stderr }).toEqual({
      code: 4,
      stderr: expect.stringMatching(/^0003_lossy\.ts.* needs consent: .*\n$/),
    });
    expect(stdout.replace(/\b\d+(\.\d+)? m?s\b/g, "T").split("\n")).toEqual([
      "documents: cloned with 4 rows",
      "0002_more (up T, down T, up again T)",
      "  rename documents.title to headline (up T, down T)",
      "    exact: kept",
      "0003_lossy (up T, down T, up again T)",
      "  drop documents.body (up T, down T)",
      "    restore: kept",
      '    needs consent: migrate up --accept lossy, or accepts = ["lossy"] in its file',
      "2 migrations rehearsed, 2 steps: 2 kept (up T, down T, up again T)",
      "",
    ]);
    expect((await project.migrate(["rehearse", "--to", "2", "--accept", "lossy"])).stdout).not.toContain("0003");
  });

  test("a step that fails on the live rows fails on the copy, and what comes after it is not tried", async () => {
    const project = await aProject();
    project.migration("0002_fine.ts", `m.renameColumn("documents", "title", "headline"),`);
    project.migration("0003_nulls.ts", `m.setNullable("documents", "body", false),`);
    project.migration("0004_after.ts", `m.renameColumn("documents", "body", "text"),`);
    const found = await rehearsed(project, 4);
    expect(verdicts(found)).toEqual(["renameColumn exact: kept", "setNullable exact: untried"]);
    const { code, stderr } = await project.migrate(["up"]);
    expect({ code, stderr }).toEqual({ code: 4, stderr: `${found.problem!.message}\n` });
    expect(found.unreached).toEqual([{ version: 4, name: "after" }]);
    expect(await project.migrate(["rehearse", "--rows", "5"])).toMatchObject({
      stdout: expect.stringContaining("0004_after: not reached\n"),
      stderr: expect.stringContaining("note: --rows has no effect on tables that could be copied\n"),
    });
    expect((await project.migrate(["plan"])).stdout).toContain("0002_fine");
  });

  test("an index that is deferred on the copy leads back too", async () => {
    const project = await aProject("lance", `m.createTable("vectors", { id: m.int32(), v: m.vector(4) }),`);
    const vectors = Array.from({ length: 300 }, (_, id) => ({ id, v: [id, id % 7, id % 3, 1] }));
    await addRows(project.data, "vectors", vectors);
    project.migration("0002_index.ts", `m.createIndex("vectors", "v", m.ivfFlat({ numPartitions: 2 })),`);
    expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
    await (await (await lancedb.connect(project.data)).openTable("vectors")).delete("id > 0");
    project.migration("0003_drop.ts", `m.dropIndex("vectors", "v_idx"),`);
    expect(verdicts(await rehearsed(project, 0))).toEqual(["dropIndex exact: kept"]);
  });

  test("of a down that its file exports the columns count, and what becomes of rows is said", async () => {
    const project = await aProject();
    project.write(
      "migrations/0002_written.ts",
      `import * as m from "lance-migrate";
       export const up = [m.dropColumn("documents", "body")];
       export const down = [m.addColumn("documents", "body", m.utf8(), { as: "'new'" })];`,
    );
    const found = await rehearsed(project, 0, "--accept", "irreversible");
    expect(stepsOf(found)).toMatchObject([
      { verdict: "kept", reason: "after down rows of documents hold other values, of which its file promises nothing" },
    ]);
    expect((await project.migrate(["rehearse"])).stdout).toContain("    as its file exports: kept: after down rows of");
  });

  test("a signal leaves no copy behind", async () => {
    const project = await aProject();
    const more = Array.from({ length: 40 }, (_, at) => `m.addColumn("documents", "c${at}", m.int32(), { as: "id" }),`);
    for (const [at, step] of more.entries()) project.migration(`${String(at + 2).padStart(4, "0")}_more.ts`, step);
    const before = filesOf(project.data);
    const { process: running, finished } = project.start(["rehearse"]);
    while (copiesIn(project.temporary).length === 0) await sleep(5);
    running.kill("SIGTERM");
    expect(await finished).toMatchObject({ code: 130 });
    expect(copiesIn(project.temporary)).toEqual([]);
    expect(filesOf(project.data)).toEqual(before);
  });
});

describe("on a service", () => {
  test("of the dialect namespace, rows are generated and steps that a folder can't do are tried too", async () => {
    const project = await aProject("namespace");
    project.migration(
      "0002_live.ts",
      `m.setMetadata("documents", "title", { unit: "words" }), m.createIndex("documents", "id", m.btree()),`,
    );
    expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
    // They are generated with the rows.
    project.migration(
      "0003_back.ts",
      `m.dropIndex("documents", "id_idx"), m.setMetadata("documents", "title", { unit: "letters" }),`,
    );
    project.migration(
      "0004_more.ts",
      `m.retypeColumn("documents", "score", m.float32()), m.dropColumn("documents", "body"),
       m.setMetadata("documents", "title", { unit: "words" }), m.createIndex("documents", "id", m.btree()),`,
    );
    project.migration("0005_rename.ts", `m.renameTable("documents", "papers"),`);
    const found = await rehearsed(project, 4, "--rows", "300");
    expect(found.tables).toEqual([{ table: "documents", rows: 300, cloned: false }]);
    expect(verdicts(found)).toEqual([
      "dropIndex exact: kept",
      "setMetadata exact: kept",
      "retypeColumn restore: kept",
      "dropColumn restore: kept",
      "setMetadata restore: kept",
      "createIndex restore: kept",
      "renameTable exact: kept",
    ]);
  });

  test("keys by which code computes values do not repeat in generated rows", async () => {
    const project = await aProject(
      "namespace",
      `m.createTable("small", { id: m.int8().notNull(), a: m.utf8(), v: m.vector(2) }),
       m.createTable("texts", { name: m.utf8().notNull(), a: m.utf8() }),
       m.createTable("derived", { id: m.int64().notNull(), a: m.utf8() }),`,
    );
    project.write("code/of.ts", `export default (rows) => rows.map(() => 1);`);
    project.write("code/vectors.ts", `export default (rows) => rows.map(() => [1, 2, 3]);`);
    const backfill = (table: string, key: string) =>
      `m.addColumn("${table}", "n", m.int32()),
       m.backfillColumn("${table}", "n", { from: ["a"], key: "${key}", with: "./code/of.ts", version: "1" }),`;
    project.migration(
      "0002_more.ts",
      `m.renameColumn("texts", "name", "title"), m.renameTable("texts", "named"), ${backfill("named", "title")}
       m.reembedColumn("small", "v", { type: m.vector(3), from: ["a"], key: "id", with: "./code/vectors.ts", version: "1" }),
       m.addColumn("derived", "name", m.utf8(), { as: "cast(id as string)" }), ${backfill("derived", "name")}`,
    );
    const found = await rehearsed(project);
    expect(found.tables.map(({ table, rows }) => [table, rows])).toEqual([
      ["texts", 1_000],
      ["small", 128],
      ["derived", 1_000],
    ]);
    expect(new Set(stepsOf(found).map(({ verdict }) => verdict))).toEqual(new Set(["kept"]));
  });

  test("hidden columns that a rollback leaves are no other values", async () => {
    const first = `m.createTable("docs", { id: m.int32().notNull(), text: m.utf8(), v: m.vector(2) }),`;
    const project = await aProject("lance", first);
    const own = [1, 2, 3].map((id) => ({ id, text: `text ${id}`, v: [id, 0] }));
    await addRows(project.data, "docs", own);
    project.write("code/new.ts", `export default (rows) => rows.map(({ text }) => [text.length, 1, 2]);`);
    project.write("code/old.ts", `export default (rows) => rows.map(() => [7, 7]);`);
    const how = `from: ["text"], key: "id", with: "./code/new.ts", version: "2"`;
    const down = `down: { with: "./code/old.ts", version: "1" }`;
    project.migration("0002_model.ts", `m.reembedColumn("docs", "v", { type: m.vector(3), ${how}, ${down} }),`);
    const found = await rehearsed(project);
    expect(new Set(stepsOf(found).map(({ verdict }) => verdict))).toEqual(new Set(["kept"]));
  });

  test("for an index of vectors as many rows are generated as it needs", async () => {
    const project = await aProject("namespace", `m.createTable("v", { id: m.int32(), at: m.vector(16) }),`);
    const own = Array.from({ length: 700 }, (_, id) => ({
      id,
      at: Array.from({ length: 16 }, (__, one) => id / (one + 1)),
    }));
    await addRows(project.data, "v", own);
    project.migration(
      "0002_index.ts",
      `m.createIndex("v", "at", m.ivfPq({ numPartitions: 2, numSubVectors: 4 }), { name: "live" }),`,
    );
    expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
    project.migration("0003_more.ts", `m.renameColumn("v", "id", "key"), m.dropIndex("v", "live"),`);
    project.migration("0004_again.ts", `m.createIndex("v", "at", m.ivfFlat({ numPartitions: 300 })),`);
    const found = await rehearsed(project, 0, "--rows", "10");
    expect(found.tables).toEqual([{ table: "v", rows: 300, cloned: false }]);
    expect(verdicts(found)).toEqual(["renameColumn exact: kept", "dropIndex exact: kept", "createIndex exact: kept"]);
  });

  test("of the dialect service, what it can't roll back is only applied", async () => {
    const project = await aProject("service");
    project.migration(
      "0002_more.ts",
      `m.renameColumn("documents", "title", "headline"), m.retypeColumn("documents", "id", m.int64()),
       m.setNullable("documents", "id", true),`,
    );
    project.migration("0003_lossy.ts", `m.retypeColumn("documents", "score", m.float32()),`);
    const found = await rehearsed(project, 4);
    expect(verdicts(found)).toEqual([
      "renameColumn exact: kept",
      "retypeColumn checked: kept",
      "setNullable checked: kept",
      "retypeColumn none: untried",
    ]);
    project.migration(
      "0004_swap.ts",
      `m.alterColumns("documents", [{ path: "headline", rename: "body" }, { path: "body", rename: "headline" }]),
       m.renameColumn("documents", "id", "key"),`,
    );
    // The copy exchanges names at once.
    expect(stepsOf(await rehearsed(project, 4)).slice(4)).toEqual([
      ...Array.from({ length: 3 }, () => expect.not.objectContaining({ up: expect.anything() })),
      expect.objectContaining({ kind: "renameColumn", up: expect.any(Number), down: expect.any(Number) }),
    ]);
    project.migration("0005_drop.ts", `m.dropColumn("documents", "body"),`);
    expect(await project.migrate(["rehearse"])).toMatchObject(
      onStderr(4, "the dialect service has no request for dropColumn"),
    );
  });
});

test("a copy is asked for nothing that its target can't do", async () => {
  const project = await aProject("service");
  project.migration(
    "0002_more.ts",
    `m.setNullable("documents", "id", true), m.retypeColumn("documents", "id", m.int64()),`,
  );
  const target = { kind: "rest", endpoint: endpointOf(project), apiKey: key.MIGRATE_API_KEY };
  project.write("migrate.config.ts", `export default { targets: { here: ${JSON.stringify(target)} } };\n`);
  const { options, close } = await openSession({ folder: project.folder }, [embed, rest]);
  const asked = new Set<string>();
  const { problem } = await rehearse(options, {}, async () => {
    const scratch = await openScratch();
    const { execute } = scratch.target;
    const watched: typeof execute = async (action, seen) => {
      asked.add(action.kind);
      return await execute(action, seen);
    };
    return { ...scratch, target: { ...scratch.target, execute: watched } };
  });
  // On a folder, a retype takes three commits where others may append meanwhile.
  expect({ problem, asked: [...asked] }).toEqual({ problem: undefined, asked: ["alterColumns"] });
  await close();
});

describe("a promise that is not kept", () => {
  /** A copy on which rolling back a rename does something more. */
  async function planted(more: (scratch: Scratch) => Promise<unknown>): Promise<Scratch> {
    const scratch = await openScratch();
    const { execute } = scratch.target;
    return {
      ...scratch,
      target: {
        ...scratch.target,
        async execute(action, seen) {
          const version = await execute(action, seen);
          const isBack = action.kind === "alterColumns" && action.alterations[0]?.rename === "title";
          if (isBack) await more(scratch);
          return version;
        },
      },
    };
  }

  async function found(more: (scratch: Scratch) => Promise<unknown>): Promise<Rehearsal> {
    const project = await aProject();
    project.migration("0002_more.ts", `m.renameColumn("documents", "title", "headline"),`);
    const { options, close } = await openSession({ folder: project.folder }, [embed]);
    const before = filesOf(project.data);
    let folder = "";
    const result = await rehearse(options, {}, async () => {
      const scratch = await planted(more);
      folder = scratch.folder;
      return scratch;
    });
    expect(existsSync(folder)).toBe(false);
    expect(filesOf(project.data)).toEqual(before);
    await close();
    return result;
  }

  const onCopy = (work: (table: Awaited<ReturnType<typeof tableOf>>) => Promise<unknown>) => async (scratch: Scratch) =>
    await work(await tableOf(scratch));
  const tableOf = async ({ folder }: Scratch) => await (await lancedb.connect(folder)).openTable("documents");

  test.each([
    [
      "-0 that becomes 0",
      onCopy((table) => table.update({ valuesSql: { score: "0.0" }, where: "id = 2" })),
      "after down rows of documents hold other values",
    ],
    [
      "an index that comes along",
      onCopy((table) => table.createIndex("id", { config: lancedb.Index.btree() })),
      "after down documents: index id_idx exists, but should not",
    ],
  ])("%s is found", async (_, more, reason) => {
    const { migrations, problem } = await found(more);
    expect(migrations[0]!.steps).toMatchObject([{ class: "exact", verdict: "broken", reason }]);
    expect(problem).toMatchObject({
      code: "ERR_REHEARSAL",
      outcome: "failed",
      message: `the rehearsal found what would go wrong on local, where nothing was changed: 0002_more: ${reason}`,
    });
  });

  test("a copy is gone too when a rehearsal is interrupted or breaks down", async () => {
    const project = await aProject();
    project.migration("0002_more.ts", `m.renameColumn("documents", "title", "headline"),`);
    const interruption = new AbortController();
    const { options, close } = await openSession({ folder: project.folder, signal: interruption.signal }, [embed]);
    for (const [more, outcome] of [
      [async () => Promise.reject(new TypeError("broken")), { message: "broken" }],
      [
        async () => interruption.abort(),
        { code: "ERR_INTERRUPTED", details: { done: expect.stringContaining("no table") } },
      ],
    ] as const) {
      let folder = "";
      const opened = async () => {
        const scratch = await planted(more);
        folder = scratch.folder;
        return { ...scratch, rows: async (table: string) => await scratch.rows(table).finally(more) };
      };
      await expect(rehearse(options, {}, opened)).rejects.toMatchObject(outcome);
      expect([folder, existsSync(folder)]).toEqual([expect.stringContaining("lance-migrate-"), false]);
    }
    await close();
  });
});

test("what failed before anything of it was done is as pending on the copy as it is here", async () => {
  const project = await aProject();
  // What fails only in some rows is not known before.
  const words = `m.execute("documents", { update: { score: "cast(body as double)" }, where: "id >= 0" }),`;
  project.migration("0003_words.ts", words);
  expect(await project.migrate(["up", "--accept", "lossy"])).toMatchObject({ code: 1 });
  await (await (await lancedb.connect(project.data)).openTable("documents")).update({ values: { body: "7" } });
  project.migration("0002_rename.ts", `m.renameColumn("documents", "title", "headline"),`);
  const found = await rehearsed(project, 4);
  expect(found.migrations.map(({ version }) => version)).toEqual([2, 3]);
  expect(stepsOf(found).map(({ verdict }) => verdict)).toEqual(["kept", "kept"]);
  expect((await rehearsed(project, 0, "--to", "2")).migrations).toHaveLength(1);
});
