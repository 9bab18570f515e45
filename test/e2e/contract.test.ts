/** Contracts of applications: a rename is refused, and the sequence that is proposed instead breaks none of the releases. */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { aProject, startNode, type Project, onStderr } from "../support/project.ts";
import { addRows, columnsOf, lancedb, rowsOf } from "../support/tables.ts";

const created = `m.createTable("documents", { id: m.int32().notNull(), title: m.utf8() })`;
const rename = `m.renameColumn("documents", "title", "headline")`;

function withContracts(): Project {
  const project = aProject();
  const target = `{ kind: "lance", uri: ".lancedb", contracts: "contracts" }`;
  project.write("migrate.config.ts", `export default { targets: { here: ${target} } };\n`);
  project.migration("0001_documents.ts", created);
  return project;
}

/** States that a release reads one column and writes some. */
function contract(project: Project, release: string, reads: string, writes: readonly string[]): void {
  const id = { id: "int32 not null" };
  const written = Object.fromEntries(writes.map((column) => [column, "utf8"]));
  const documents = { reads: { ...id, [reads]: "utf8" }, writes: { ...id, ...written }, appends: true };
  const text = JSON.stringify({ format: 1, application: "search", release, tables: { documents } });
  project.write(`contracts/${release}.json`, text);
}

/**
 * A release of an application. It adds rows, reads them and changes them, some of them those of another release, through a
 * table that it opens once. It prints what was acknowledged, until it is asked to stop.
 */
const application = `
import { connect } from ${JSON.stringify(import.meta.resolve("@lancedb/lancedb"))};
const { DATABASE, READS, WRITES, FIRST, OTHERS } = process.env;
const table = await (await connect(DATABASE)).openTable("documents");
const given = (value) => Object.fromEntries(WRITES.split(",").map((name) => [name, value]));
const acknowledge = (id, value) => console.log(JSON.stringify({ id, value }));
/** Like any application, it repeats what has lost against another writer. */
async function retried(work) {
  for (let left = 50; ; left--)
    try {
      return await work();
    } catch (error) {
      if (left === 0 || !/conflict/i.test(String(error))) throw error;
      await new Promise((resolve) => setTimeout(resolve, 10 * Math.random()));
    }
}
async function write(id, value) {
  const { rowsUpdated } = await retried(() => table.update({ where: "id = " + id, values: given(value) }));
  if (rowsUpdated > 0) acknowledge(id, value);
}
let isStopped = false;
process.stdin.on("data", () => (isStopped = true));
for (let id = Number(FIRST); !isStopped; id++) {
  const value = READS + " " + id;
  await retried(() => table.add([{ id, ...given(value) }]));
  acknowledge(id, value);
  const [row] = await table.query().where("id = " + id).select(["id", READS]).toArray();
  if (row?.[READS] !== value) throw new Error("row " + id + " is " + JSON.stringify(row));
  if (id % 3 === 0) await write(id, value + " again");
  if (OTHERS && id % 3 === 1) await write(Number(OTHERS) + (id % 100), value + " by another");
  await new Promise((resolve) => setTimeout(resolve, 150));
}
process.exit(0);
`;

interface Release {
  /** Waits until it has written again a few times. */
  works(): Promise<void>;
  stop(): Promise<void>;
}

interface Written {
  readonly id: number;
  readonly value: string;
}

function start(
  project: Project,
  number: number,
  reads: string,
  writes: readonly string[],
  written: Written[],
): Release {
  const others = number === 1 ? "" : String((number - 1) * 10_000);
  const { process: child, finished } = startNode([join(project.folder, "app.mjs")], project.folder, {
    DATABASE: project.database,
    READS: reads,
    WRITES: writes.join(),
    FIRST: String(number * 10_000),
    // The first release writes to rows of the second one too.
    OTHERS: number === 1 ? "20000" : others,
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let [rest, count] = ["", 0];
  let notice = () => {};
  child.stdout!.on("data", (text: string) => {
    const lines = `${rest}${text}`.split("\n");
    rest = lines.pop()!;
    for (const line of lines) written.push(JSON.parse(line) as Written);
    count += lines.length;
    notice();
  });
  return {
    async works() {
      const wanted = count + 5;
      const enough = new Promise<void>((resolve) => {
        notice = () => count >= wanted && resolve();
      });
      await Promise.race([enough, finished.then(({ stderr }) => expect(stderr).toBe("it runs"))]);
    },
    async stop() {
      child.stdin!.write("stop\n");
      expect(await finished).toMatchObject({ code: 0, stderr: "" });
    },
  };
}

/** The steps of a proposed sequence, as a migration exports them. */
function stepsIn(text: string): readonly [steps: string, accepts: string] | undefined {
  const [, steps] = /^(?:In \S+, replace this step|A migration) with (.*?)(?:, and with .*)?\.$/.exec(text) ?? [];
  return steps === undefined
    ? undefined
    : [steps, text.includes("accepts") ? 'export const accepts = ["lossy"];\n' : ""];
}

test("the proposed sequence breaks no release that runs meanwhile", async () => {
  const project = withContracts();
  const up = async () => await project.migrate(["up"]);
  project.write("app.mjs", application);
  project.write("contracts/README.md", "The releases that run.");
  expect(await up()).toMatchObject({ code: 0 });
  const written: Written[] = [];
  const release = async (number: number, reads: string, ...writes: readonly string[]) => {
    contract(project, String(number), reads, writes);
    const started = start(project, number, reads, writes, written);
    await started.works();
    return started;
  };
  const leave = async (one: Release, number: number) => {
    await one.works();
    await one.stop();
    rmSync(join(project.folder, `contracts/${number}.json`));
  };

  const first = await release(1, "title", "title");
  project.migration("0002_rename.ts", rename);
  const refused = await up();
  expect(refused).toMatchObject({ code: 4, stdout: "" });
  expect(refused.stderr).toContain(
    "0002_rename.ts, step 1 (renameColumn) would break a release that still runs: " +
      "search 1 reads and writes documents.title, which is renamed to headline; " +
      "follow the sequence that breaks none, or remove the contract of a release that no longer runs\n" +
      '  1. In 0002_rename.ts, replace this step with addColumn("documents", "headline", utf8()).\n',
  );
  expect(await columnsOf(project.database, "documents")).toEqual(["id: int32 not null", "title: utf8"]);
  const { stdout, code } = await project.migrate(["plan", "--json"]);
  expect(code).toBe(4);
  const { refusal } = JSON.parse(stdout).pending[0].actions[0];
  const [expand, both, fill, moved, only, drop, ...more] = refusal.sequence as readonly string[];
  expect(more).toEqual([]);
  rmSync(join(project.folder, "migrations/0002_rename.ts"));
  let number = 1;
  const apply = async (text: string) => {
    const [steps, accepts] = stepsIn(text)!;
    const names = "addColumn, dropColumn, execute, utf8";
    const head = `import { ${names} } from "lance-migrate";\n${accepts}`;
    project.write(`migrations/000${++number}_next.ts`, `${head}export const up = [${steps}];\n`);
    expect(await up()).toMatchObject({ code: 0 });
  };

  await apply(expand!);
  expect(both).toContain("reads documents.title and writes both");
  const second = await release(2, "title", "title", "headline");
  await leave(first, 1);
  await apply(fill!);
  const filled = (await rowsOf(project.database, "documents")) as { title: string; headline: string }[];
  expect(filled.filter(({ title, headline }) => title !== headline)).toEqual([]);
  expect(moved).toContain("reads documents.headline and writes both");
  const third = await release(3, "headline", "title", "headline");
  await leave(second, 2);
  expect(only).toContain("reads and writes only documents.headline");
  const fourth = await release(4, "headline", "headline");
  project.write(
    "migrations/0004_early.ts",
    `import * as m from "lance-migrate";\nexport const up = [m.dropColumn("documents", "title")];\n`,
  );
  expect((await up()).stderr).toContain("search 3 writes documents.title, which is dropped");
  rmSync(join(project.folder, "migrations/0004_early.ts"));
  await leave(third, 3);
  await apply(drop!);
  await leave(fourth, 4);

  const values = new Map<number, string[]>();
  for (const { id, value } of written) values.set(id, [...(values.get(id) ?? []), value]);
  const rows = (await rowsOf(project.database, "documents")) as { id: number; headline: string }[];
  // Two releases that change a row at the same time may both be the last.
  const lost = rows.filter(({ id, headline }) => !values.get(id)!.slice(-2).includes(headline));
  expect(lost).toEqual([]);
  expect(rows.map(({ id }) => id).toSorted()).toEqual([...values.keys()].toSorted());
  expect(await columnsOf(project.database, "documents")).toEqual(["id: int32 not null", "headline: utf8"]);
});

test("a push and a saved plan are refused too, and a rehearsal reports it", async () => {
  const project = withContracts();
  const target = `{ kind: "lance", uri: ".lancedb", contracts: ["contracts"], push: true }`;
  project.write("migrate.config.ts", `export default { targets: { here: ${target} } };\n`);
  contract(project, "1", "title", ["title"]);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  project.write(
    "schema.ts",
    `import * as m from "lance-migrate";\nexport default m.defineSchema({ documents: { id: m.int32().notNull() } });\n`,
  );
  const breaks = "search 1 reads and writes documents.title, which is dropped";
  const push = await project.migrate(["push", "--drop-column", "documents.title", "--accept", "lossy"]);
  expect(push).toMatchObject(onStderr(4, breaks));
  project.migration("0002_drop.ts", `m.dropColumn("documents", "title")`);
  const saved = await project.migrate(["plan", "--out", "plan.json", "--accept", "lossy"]);
  expect(saved).toMatchObject(onStderr(4, breaks));
  expect((await project.migrate(["rehearse"])).stdout).toContain(breaks.replace("search 1", "breaks search 1, which"));
  rmSync(join(project.folder, "contracts/1.json"));
  expect(await project.migrate(["plan", "--out", "plan.json", "--accept", "lossy"])).toMatchObject({ code: 0 });
  contract(project, "2", "title", []);
  expect(await project.migrate(["up", "--plan", "plan.json"])).toMatchObject(
    onStderr(4, "search 2 reads documents.title, which is dropped"),
  );
  expect(await columnsOf(project.database, "documents")).toEqual(["id: int32 not null", "title: utf8"]);
});

test("a rollback that breaks a release is refused until the release has stopped", async () => {
  const project = withContracts();
  project.migration("0002_headline.ts", `m.addColumn("documents", "headline", m.utf8())`);
  expect(await project.migrate(["up", "--contract", "1.json"])).toMatchObject({ code: 2 });
  contract(project, "1", "title", ["title"]);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  // Release 1 uses only what the rollback leaves.
  contract(project, "2", "headline", ["title", "headline"]);
  const wayOut = [
    "  1. Deploy a release that works with the tables before and after the rollback. Stop search 2, and remove its contract.",
    "  2. Roll back.",
  ].join("\n");
  const planned = await project.migrate(["plan", "--down"]);
  expect(planned.stdout).toContain(
    "breaks search 2, which reads and writes documents.headline, which is dropped; instead:",
  );
  const columns = ["id: int32 not null", "title: utf8", "headline: utf8"];
  for (const args of [["down"], ["down", "--accept", "lossy"], ["plan", "--down", "--out", "back.json"]])
    expect(await project.migrate(args)).toEqual({
      code: 4,
      stdout: "",
      stderr:
        "the rollback of 0002_headline.ts, step 1 (addColumn) would break a release that still runs: " +
        "search 2 reads and writes documents.headline, which is dropped; " +
        `follow the sequence that breaks none, or remove the contract of a release that no longer runs\n${wayOut}\n`,
    });
  expect(await columnsOf(project.database, "documents")).toEqual(columns);
  rmSync(join(project.folder, "contracts/2.json"));
  expect(await project.migrate(["plan", "--down", "--out", "back.json"])).toMatchObject({ code: 0 });
  contract(project, "3", "headline", []);
  expect(await project.migrate(["down", "--plan", "back.json"])).toMatchObject({ code: 4 });
  rmSync(join(project.folder, "contracts/3.json"));
  expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
  expect(await columnsOf(project.database, "documents")).toEqual(columns.slice(0, 2));
});

test("a rollback that restores old values is refused, and one that restores only rows is not", async () => {
  const project = withContracts();
  project.write("contracts/README.md", "The releases that run.");
  project.migration("0002_prices.ts", `m.addColumn("documents", "price", m.float64())`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(project.database, "documents", [{ id: 1, title: "a", price: 5 }]);
  const lossy = (name: string, step: string) => {
    const head = `import * as m from "lance-migrate";\nexport const accepts = ["lossy"];\n`;
    project.write(`migrations/${name}`, `${head}export const up = [${step}];\n`);
  };
  lossy("0003_cents.ts", `m.retypeColumn("documents", "price", m.float64(), { using: "price * 100" })`);
  lossy("0004_titles.ts", `m.execute("documents", { update: { title: "'b'" } })`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const documents = { reads: { price: "float64" }, writes: { id: "int32 not null", title: "utf8" }, appends: true };
  const contract = { format: 1, application: "search", release: "2", tables: { documents } };
  project.write("contracts/2.json", JSON.stringify(contract));
  const held = await (await lancedb.connect(project.database)).openTable("documents");
  const { stdout } = await project.migrate(["plan", "--down"]);
  expect(stdout).toContain(
    "search 2 writes to documents: where it has the table open already, that is refused until it calls checkoutLatest or opens it again",
  );
  expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
  const written = [() => held.add([{ id: 2 }]), () => held.update({ where: "id = 1", values: { title: "c" } })];
  for (const write of written)
    await expect(write()).rejects.toThrow("transaction is incompatible with concurrent transaction Restore");
  await held.checkoutLatest();
  await held.add([{ id: 2 }]);
  expect(await project.migrate(["down", "--accept", "lossy"])).toMatchObject(
    onStderr(4, "search 2 reads documents.price, which gets its values from before the migration back"),
  );
  expect(await rowsOf(project.database, "documents")).toMatchObject([{ id: 1, title: "a", price: 500 }, { id: 2 }]);
});

describe("migrate contract", () => {
  const written = (project: Project) => JSON.parse(readFileSync(join(project.folder, "contract.json"), "utf8"));
  const names = ["--application", "search", "--release", "1.4.0"];

  test("writes what the application of the types file reads and writes", async () => {
    const project = aProject();
    project.write("migrate.config.ts", `export default { types: "src/db.ts" };\n`);
    const columns = `id: m.int64().notNull(), title: m.utf8(), source: m.struct({ url: m.utf8() }), "a b": m.vector(2)`;
    project.migration(
      "0001_documents.ts",
      `m.createTable("documents", { ${columns} }), m.addComputedColumn("documents", "shout", m.utf8(), "upper(source.url)")`,
    );
    expect(await project.migrate(["types", "--out", "src/db.ts"])).toMatchObject({ code: 0 });
    project.migration("0002_headlines.ts", rename);
    expect(await project.migrate(["contract", ...names])).toEqual({
      code: 0,
      stdout: "wrote contract.json\n",
      stderr: "",
    });
    const both = {
      id: "int64 not null",
      title: "utf8",
      source: "struct<url: utf8>",
      "a b": "fixedSizeList<float32, 2>",
    };
    expect(written(project)).toEqual({
      format: 1,
      application: "search",
      release: "1.4.0",
      migrations: "0001_documents",
      tables: { documents: { reads: { ...both, shout: "utf8" }, writes: both, appends: true } },
    });
    expect(await project.migrate(["up", "--to", "1"])).toMatchObject({ code: 0 });
    expect(await project.migrate(["up", "--contract", "contract.json"])).toMatchObject(
      onStderr(4, "search 1.4.0 reads and writes documents.title, which is renamed to headline"),
    );
  });

  test("keeps to the columns that people have left in it", async () => {
    const project = aProject();
    project.migration("0001_documents.ts", created);
    const narrow = { reads: { title: "utf8", id: "any" }, appends: false };
    const document = { format: 1, application: "search", release: "1", tables: { documents: narrow, gone: {} } };
    project.write("contract.json", JSON.stringify(document));
    project.migration(
      "0002_more.ts",
      `m.setNullable("documents", "title", false), m.addColumn("documents", "lang", m.utf8()), m.createTable("more", { id: m.int32() })`,
    );
    expect(await project.migrate(["contract", "--check"])).toEqual({
      code: 3,
      stdout: "",
      stderr: "contract.json is out of date; migrate contract writes it\n",
    });
    expect(await project.migrate(["contract", "--release", "2"])).toEqual({
      code: 0,
      stdout: "wrote contract.json\n",
      stderr:
        "note: contract.json was the contract of search 1\n" +
        "removed, since the tables do not have it: gone\n" +
        "left out as before: more, documents.lang; --all writes everything\n",
    });
    const tables = { documents: { reads: { title: "utf8 not null", id: "any" }, appends: false } };
    expect(written(project)).toMatchObject({ release: "2", migrations: "0002_more", tables });
    expect(await project.migrate(["contract", "--check"])).toMatchObject({
      code: 0,
      stdout: "equal: contract.json is up to date\n",
    });
    expect(await project.migrate(["contract"])).toMatchObject({
      stdout: "nothing to do: contract.json is up to date\n",
    });
    expect(await project.migrate(["contract", "--all"])).toMatchObject({ code: 0, stderr: "" });
    expect(Object.keys(written(project).tables)).toEqual(["documents", "more"]);
    expect(written(project).tables.documents.reads).toHaveProperty("lang", "utf8");
  });

  test("a new column that it leaves out is named as new, and other changes do not make it out of date", async () => {
    const project = aProject();
    project.migration("0001_documents.ts", created);
    expect(await project.migrate(["contract", ...names])).toMatchObject({ code: 0 });
    project.migration("0002_more.ts", `m.createTable("more", { id: m.int32() })`);
    expect(await project.migrate(["contract", "--check"])).toMatchObject({ code: 0 });
    expect(await project.migrate(["contract", "--all"])).toMatchObject({ stdout: "wrote contract.json\n" });
    project.migration("0003_lang.ts", `m.addColumn("documents", "lang", m.utf8()), m.dropColumn("documents", "title")`);
    expect(await project.migrate(["contract"])).toMatchObject({
      code: 0,
      stderr:
        "removed, since the tables do not have it: documents.title\n" +
        "left out, and new since 0002_more: documents.lang; add what this release uses to the file\n",
    });
  });

  test("is refused without names, and to overwrite what is no contract", async () => {
    const project = aProject();
    project.migration("0001_documents.ts", created);
    expect(await project.migrate(["contract", "--application", "search"])).toMatchObject({
      code: 2,
      stderr: "--release is required, as there is no contract.json yet\n",
    });
    expect(await project.migrate(["contract", "--check"])).toMatchObject({
      code: 3,
      stderr:
        "contract.json is missing; migrate contract --application NAME --release NAME writes it; for a file elsewhere, add --out FILE\n",
    });
    expect(await project.migrate(["contract", "--check", "--out", "contracts/1.json"])).toMatchObject({
      code: 3,
      stderr:
        "contracts/1.json is missing; migrate contract --application NAME --release NAME --out contracts/1.json writes it\n",
    });
    expect(await project.migrate(["contract", ...names, "--out", "package.json"])).toMatchObject(
      onStderr(2, "the contract package.json is not valid: "),
    );
  });
});
