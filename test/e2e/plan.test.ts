/** What `migrate plan` shows, against what then happens; with the built command. */
import { randomBytes } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { planDocumentShape, type PlanDocument } from "../../src/plan/document/plan-document.ts";
import { aProject, onStderr } from "../support/project.ts";
import { aProxy } from "../support/proxy.ts";
import { aService } from "../support/service.ts";
import { addRows } from "../support/tables.ts";
import { casesInTurn, rounds } from "../support/rounds.ts";
import { aProjectOn, key, type Way } from "./support/project-on.ts";

const inTurn = casesInTurn();

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

/** A project with rows in a table, and a migration whose rollback nulls and values block. */
async function pending(way: Way, steps = change) {
  const onTarget = await aProjectOn(way);
  const migrate = (args: readonly string[]) => onTarget.migrate(args, key);
  onTarget.migration("0001_create.ts", create);
  expect(await migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(onTarget.data, "documents", rows);
  onTarget.migration("0002_change.ts", steps);
  const plan = async (...flags: readonly string[]) => {
    const { code, stdout } = await migrate(["plan", "--json", ...flags]);
    // 4 where a step is known to fail.
    expect([0, 4]).toContain(code);
    return planDocumentShape.parse(JSON.parse(stdout));
  };
  return { ...onTarget, migrate, plan };
}

const actionsOf = ({ pending: [migration] = [] }: PlanDocument) => migration!.actions;

test("the rows that a deletion removes are counted, although an earlier step of the plan indexes its table", async () => {
  const steps = `m.createIndex("documents", "title", m.bitmap()), m.execute("documents", { delete: "id > 900" }),`;
  const { plan, migrate } = await pending("lance", steps);
  expect(actionsOf(await plan()).at(-1)!.risks).toMatchObject([{ kind: "loss", rows: 99 }]);
  expect((await migrate(["plan"])).stdout).toContain(
    "risk: rows of documents are deleted where id > 900: 99 rows now\n",
  );
  expect((await migrate(["plan", "--verbose"])).stdout).toContain(
    "back: restore documents as it was before, because in this migration rows of documents are deleted where id > 900 (restore, metadata only, 1 version)\n",
  );
});

test.each(inTurn(["lance", "namespace"] as const))(
  "rows at risk are counted, by the names that columns have now, and the totals are those of the actions, on %s",
  async (way) => {
    const { plan, migrate } = await pending(way);
    const document = await plan();
    expect(actionsOf(document).map(({ risks }) => risks.map(({ kind, rows: now }) => [kind, now]))).toEqual([
      [],
      [["failure", 250]],
      [
        ["loss", 100],
        ["writers", undefined],
      ],
      [["failure", 872]],
    ]);
    const { stdout } = await migrate(["plan"]);
    expect(stdout).toContain("    risk: a null in documents.headline would stop this: 250 rows now\n");
    if (way !== "lance") return;
    // Guards: a byte in each row; float32, and int8.
    const totals = { migrations: 1, actions: 4, rows: 2000, bytes: 6000, added: 0, indexes: [], versions: 6 };
    expect(document.totals).toEqual(totals);
    expect(stdout).toMatch(
      /\n1 migration, 4 actions: rewrites about 6\.0 kB in 2,000 rows, 6 versions\nverdict: refused \(1 may lose data\)\n$/,
    );
  },
);

test.each(inTurn(["lance", "namespace"] as const))("so are rows and values that go, on %s", async (way) => {
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
      "0002_change.ts, step 2 (retypeColumn) is forbidden on target local, whose configuration lets a migration rewrite 4.0 kB: up to this step it rewrites about 12.0 kB; raise maxRewriteBytes in its guards to allow it\n",
  });
  const { stdout } = await migrate(["plan"]);
  expect(stdout).toContain(
    "    forbidden on this target: a migration that rewrites more than 4.0 kB; up to this step it is about 12.0 kB\n",
  );
  limit(`"much"`);
  expect(await migrate(["up"])).toMatchObject(onStderr(2, "guards.maxRewriteBytes must be a number of bytes"));
  limit(12000);
  expect(await migrate(["up"])).toMatchObject({ code: 0 });
});

const retypes = [
  ["lance", "renamed", "narrow"],
  ["namespace", "wide", "wide"],
  ["lance", "narrow", "narrow"],
  ["lance", "wide", "wide"],
  ["namespace", "narrow", "narrow"],
] as const;

test.each(retypes.slice(0, rounds(2, retypes.length)))(
  "on %s a retype of the column %s is predicted by its own values",
  async (way, name, column) => {
    const { migrate, migration, data } = await aProjectOn(way);
    const run = (args: readonly string[]) => migrate(args, key);
    migration(
      "0001_create.ts",
      `m.createTable("t", { id: m.int64(), narrow: m.utf8(), wide: m.utf8(), note: m.utf8(), tag: m.utf8() }),`,
    );
    expect(await run(["up"])).toMatchObject({ code: 0 });
    // Random, so that compression hardly makes files smaller.
    const text = (length: number) => randomBytes(length).toString("base64").slice(0, length);
    await addRows(
      data,
      "t",
      Array.from({ length: 4_000 }, (_, id) => ({
        id: BigInt(id),
        narrow: text(20),
        wide: text(4_000),
        note: null,
        tag: null,
      })),
    );
    const renaming = name === column ? "" : `m.renameColumn("t", "${column}", "${name}"),`;
    migration("0002_retype.ts", `${renaming} m.retypeColumn("t", "${name}", m.largeUtf8()),`);
    const { stdout } = await run(["plan", "--json"]);
    const predicted = planDocumentShape.parse(JSON.parse(stdout)).totals!.bytes!;
    const before = bytesOfFiles(data);
    expect(await run(["up"])).toMatchObject({ code: 0 });
    const ratio = predicted / (bytesOfFiles(data) - before);
    expect(ratio).toBeGreaterThan(0.5);
    expect(ratio).toBeLessThan(2);
  },
);

/** Of the data of t. */
function bytesOfFiles(database: string): number {
  const folder = join(database, "t.lance", "data");
  return readdirSync(folder).reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);
}

test("a long text that repeats itself is predicted as long as it is before it is compressed", async () => {
  const { migrate, migration, data } = await aProjectOn("lance");
  migration("0001_create.ts", `m.createTable("t", { a: m.utf8() }),`);
  expect(await migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(
    data,
    "t",
    Array.from({ length: 1_000 }, () => ({ a: "x".repeat(3_000) })),
  );
  migration("0002_retype.ts", `m.retypeColumn("t", "a", m.largeUtf8()),`);
  const { stdout } = await migrate(["plan", "--json"]);
  // One more byte a row is that of the column by which appends are refused meanwhile.
  expect(planDocumentShape.parse(JSON.parse(stdout)).totals!.bytes).toBe(3_001_000);
});

test("rows that an earlier step writes are not counted as a risk of a later one", async () => {
  const project = aProject();
  project.migration(
    "0001_docs.ts",
    `m.createTable("docs", { id: m.int64(), name: m.utf8() }, { rows: [{ id: 1, name: null }] })`,
  );
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const strict = `m.setNullable("docs", "name", false)`;
  project.migration("0002_strict.ts", strict);
  expect((await project.migrate(["plan"])).stdout).toContain("risk: a null in docs.name would stop this: 1 row now\n");
  const fill = `m.execute("docs", { update: { name: "''" }, where: "name is null" })`;
  project.migration("0002_strict.ts", `${fill}, ${strict}`);
  const { stdout } = await project.migrate(["plan", "--accept", "lossy"]);
  expect(stdout).toContain("risk: a null in docs.name would stop this\n");
  expect(stdout).toContain("verdict: ready");
});
