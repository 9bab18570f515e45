/** What `migrate plan` shows, against what then happens; with the built command. */
import { expect, test } from "vitest";
import { planDocumentShape, type PlanDocument } from "../../src/plan/document.ts";
import { aProject } from "../support/project.ts";
import { aProxy } from "../support/proxy.ts";
import { aService } from "../support/service.ts";
import { addRows } from "../support/tables.ts";
import { aProjectOn, key, type Way } from "./support/project-on.ts";

const create = `m.createTable("documents", { id: m.int64().notNull(), title: m.utf8(), score: m.float64(), v: m.vector(4) }),`;
const rows = Array.from({ length: 1000 }, (_, id) => ({
  id: BigInt(id),
  title: id % 4 === 0 ? null : `title ${id}`,
  score: id % 10 === 0 ? 0.1 : 0.5,
  v: [id, 0, 0, 0],
}));
const change = `
  m.renameColumn("documents", "title", "headline"),
  m.setNullable("documents", "headline", false),
  m.retypeColumn("documents", "score", m.float32()),
  m.retypeColumn("documents", "id", m.int8()),
`;

/** A project with rows in a table, and a migration that nulls and values stand in the way of. */
async function pending(way: Way, steps = change) {
  const onTarget = await aProjectOn(way);
  const migrate = (args: readonly string[]) => onTarget.migrate(args, key);
  onTarget.migration("0001_create.ts", create);
  expect(await migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(onTarget.data, "documents", rows);
  onTarget.migration("0002_change.ts", steps);
  const plan = async (...flags: readonly string[]) => {
    const { code, stdout } = await migrate(["plan", "--json", ...flags]);
    expect(code).toBe(0);
    return planDocumentShape.parse(JSON.parse(stdout));
  };
  return { ...onTarget, migrate, plan };
}

const actionsOf = ({ pending: [migration] = [] }: PlanDocument) => migration!.actions;

test.each(["lance", "namespace"] as const)(
  "rows at risk are counted, by the names that columns have now, on %s",
  async (way) => {
    const { plan, migrate } = await pending(way);
    expect(actionsOf(await plan()).map(({ risks }) => risks.map(({ kind, rows: now }) => [kind, now]))).toEqual([
      [],
      [["failure", 250]],
      [
        ["loss", 100],
        ["writers", undefined],
      ],
      [["failure", 872]],
    ]);
    const { stdout } = await migrate(["plan"]);
    expect(stdout).toContain("    a null in documents.headline would stop this: 250 rows now\n");
  },
);

test.each(["lance", "namespace"] as const)("so are rows and values that go, on %s", async (way) => {
  const { plan } = await pending(
    way,
    `m.execute("documents", { delete: "id < 10" }), m.dropColumn("documents", "title"), m.dropTable("documents"),`,
  );
  expect(actionsOf(await plan()).map(({ risks }) => risks.map((risk) => risk.rows))).toEqual([[10], [750], [1000]]);
});

test("on a service of three endpoints nothing is counted, and nobody is asked", async () => {
  const { plan } = await pending("service");
  const actions = actionsOf(await plan());
  expect(actions.flatMap(({ risks }) => risks.map((risk) => risk.rows))).toEqual(Array.from({ length: 4 }));
  expect(actions.map(({ cost }) => cost)).toMatchObject([
    { rows: 0, bytes: 0, versions: 1 },
    { rows: 0, bytes: 0, versions: 1 },
    { rows: null, bytes: null, versions: 1 },
    { rows: null, bytes: null, versions: 1 },
  ]);
});

test("the totals are those of the actions", async () => {
  const { plan, migrate } = await pending("lance");
  const { totals } = await plan();
  // Guards: a byte in each row; float32, and int8.
  expect(totals).toEqual({ migrations: 1, actions: 4, rows: 2000, bytes: 6000, added: 0, indexes: [], versions: 6 });
  const { stdout } = await migrate(["plan"]);
  expect(stdout).toMatch(/\n1 migration, 4 actions: rewrites about 6\.0 kB in 2,000 rows, 6 versions\n$/);
});

test.each(["namespace", "service"] as const)(
  "the requests that it shows are those that are sent, in the dialect %s",
  async (dialect) => {
    const service = await aService();
    const proxy = await aProxy(service.url);
    const project = aProject();
    const target = { kind: "rest", endpoint: proxy.url, dialect };
    project.write("migrate.config.ts", `export default { targets: { here: ${JSON.stringify(target)} } };\n`);
    project.migration(
      "0001_all.ts",
      `${create} m.renameColumn("documents", "title", "headline"), m.retypeColumn("documents", "id", m.int32()),
    ${
      dialect === "service"
        ? ""
        : `m.addColumn("documents", "n", m.int32(), { as: "7" }), m.createIndex("documents", "id", m.btree()),
    m.setMetadata("documents", "id", { unit: "one" }), m.execute("documents", { update: { n: "8" }, where: "id > 1" }),
    m.insertRows("documents", [{ id: 1, headline: "one", score: 1, v: null, n: 1 }], { key: "id" }),
    m.dropIndex("documents", "documents_id_idx"), m.dropColumn("documents", "n"),`
    }`,
    );
    const accept = ["--accept", "irreversible"];
    const shown = await project.migrate(["plan", "--json", ...accept], key);
    const calls = actionsOf(JSON.parse(shown.stdout)).flatMap((action) => action.calls!);
    const before = proxy.passed.length;
    expect(await project.migrate(["up", ...accept], key)).toMatchObject({ code: 0 });
    const sent = proxy.passed
      .slice(before)
      .map(
        ({ method, path, body }) =>
          `${method} ${path} ${body[0] === 123 ? body.toString() : `<Arrow stream of ${body.length} bytes>`}`,
      );
    let from = 0;
    for (const call of calls) {
      const at = sent.indexOf(call, from);
      expect(at, `${call} in ${sent.slice(from).join("\n")}`).toBeGreaterThanOrEqual(from);
      from = at + 1;
    }
    expect(calls.length).toBe(dialect === "service" ? 3 : 10);
  },
);

test("a migration that rewrites more than the target allows is refused", async () => {
  const { write, migrate, migration } = await pending(
    "lance",
    `m.retypeColumn("documents", "score", m.float64()), m.retypeColumn("documents", "id", m.int32()),`,
  );
  migration(
    "0002_change.ts",
    `m.retypeColumn("documents", "id", m.int32()), m.retypeColumn("documents", "id", m.int64()),`,
  );
  const limit = (bytes: unknown) =>
    write(
      "migrate.config.ts",
      `export default { targets: { local: { kind: "lance", uri: ".lancedb", guards: { maxRewriteBytes: ${bytes} } } } };\n`,
    );
  limit(4000);
  expect(await migrate(["up"])).toEqual({
    code: 4,
    stdout: "",
    stderr:
      "0002_change.ts, step 2 (retypeColumn) is forbidden on target local, whose configuration lets a migration rewrite 4.0 kB: it rewrites about 12.0 kB by then\n",
  });
  const { stdout } = await migrate(["plan"]);
  expect(stdout).toContain(
    "    forbidden on this target: a migration that rewrites more than 4.0 kB; it is about 12.0 kB by then\n",
  );
  limit(`"much"`);
  expect(await migrate(["up"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("guards.maxRewriteBytes has to be a number of bytes"),
  });
  limit(12000);
  expect(await migrate(["up"])).toMatchObject({ code: 0 });
});

test("where nobody can tell how much is rewritten, a limit refuses it", async () => {
  const { write, migrate, folder } = await pending("service", `m.renameColumn("documents", "title", "headline"),`);
  const { readFileSync } = await import("node:fs");
  const config = readFileSync(`${folder}/migrate.config.ts`, "utf8");
  write("migrate.config.ts", config.replace(`"dialect"`, `"guards": { "maxRewriteBytes": 10 }, "dialect"`));
  expect(await migrate(["up"])).toMatchObject({ code: 0 });
  write(
    "migrations/0003_more.ts",
    `import * as m from "lance-migrate";\nexport const up = [m.retypeColumn("documents", "id", m.int32())];\n`,
  );
  expect(await migrate(["up"])).toMatchObject({
    code: 4,
    stderr: expect.stringContaining("nobody can tell how much it rewrites\n"),
  });
});

test("the limit counts the rows that an update is about, and what a table is created with", async () => {
  const { write, migrate, migration } = await pending(
    "lance",
    `m.execute("documents", { update: { score: "1.0" }, where: "id < 10" }),`,
  );
  write(
    "migrate.config.ts",
    `export default { targets: { local: { kind: "lance", uri: ".lancedb", guards: { accepts: ["lossy"], maxRewriteBytes: 2000 } } } };\n`,
  );
  expect(await migrate(["up"])).toMatchObject({ code: 0 });
  migration(
    "0003_new.ts",
    `m.createTable("codes", { id: m.int32(), name: m.utf8() }, { rows: [{ id: 1, name: "one" }] }), m.retypeColumn("codes", "name", m.largeUtf8()),`,
  );
  expect(await migrate(["up"])).toMatchObject({ code: 0 });
});

test("a plan with --accept-loss says what is lost, and down too", async () => {
  const { migrate } = await pending("lance", `m.dropColumn("documents", "title"),`);
  expect(await migrate(["up", "--accept", "lossy"])).toMatchObject({ code: 0 });
  const down = (...flags: readonly string[]) => migrate(["down", "--to", "0", ...flags]);
  expect((await down("--accept-loss", "--dry-run")).stdout).toContain(
    "\ndocuments has 1000 rows, 1000 of them written since, and goes with them\n",
  );
  expect((await down("--accept-loss")).stderr).toContain("note: documents has 1000 rows");
});

const back = /^back to (.*)$/m;

test("what a run only finished, or did unlike the way back, it says nothing of, or no time", async () => {
  const { migrate, migration } = await pending(
    "lance",
    `m.renameColumn("documents", "title", "headline"), m.setNullable("documents", "headline", false),`,
  );
  expect(await migrate(["up"])).toMatchObject({ code: 1 });
  migration(
    "0002_change.ts",
    `m.renameColumn("documents", "title", "headline"), m.retypeColumn("documents", "id", m.int32()),`,
  );
  const finished = await migrate(["up"]);
  expect(finished).toMatchObject({ code: 0 });
  expect(finished.stderr).not.toMatch(back);
  migration("0003_add.ts", `m.addColumn("documents", "n", m.int32(), { as: "7" }),`);
  expect(back.exec((await migrate(["up"])).stderr)?.[1]).toBe("0002_change: 1 action");
});

test("up ends with what taking it back would be", async () => {
  const { migrate, migration } = await pending(
    "lance",
    `m.retypeColumn("documents", "id", m.int32()), m.renameColumn("documents", "title", "headline"),`,
  );
  expect(back.exec((await migrate(["up"])).stderr)?.[1]).toMatch(
    /^0001_create: 2 actions, 1 rewrite of 1,000 rows, about [\d.]+ m?s$/,
  );
  migration("0003_drop.ts", `m.dropColumn("documents", "score"), m.dropColumn("documents", "v"),`);
  expect(back.exec((await migrate(["up", "--accept", "lossy"])).stderr)?.[1]).toMatch(
    /^0002_change: 1 action, about [\d.]+ m?s$/,
  );
  migration("0004_gone.ts", `m.dropTable("documents"),`);
  migration("0005_new.ts", `m.createTable("others", { id: m.int32() }),`);
  expect(back.exec((await migrate(["up", "--accept", "irreversible"])).stderr)?.[1]).toMatch(
    /^0004_gone: 1 action, about [\d.]+ m?s, 0004_gone can't be taken back$/,
  );
  migration("0006_gone.ts", `m.dropTable("others"),`);
  expect((await migrate(["up", "--accept", "irreversible"])).stderr).toContain("\n0006_gone can't be taken back\n");
});
