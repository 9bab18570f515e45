/**
 * What it costs to apply a whole history to an empty database, as test suites do: 1,000 migrations of 20 tables in a folder,
 * run as groups, one by one, and by a bare loop that makes the same calls of the engine and adds one row to a table after
 * each migration. Whole processes, interleaved: read the ratios. `npm run bench:pending [-- --rounds N --migrations N]`.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { plan } from "../../src/commands/plan.ts";
import { migrationsIn } from "../../src/migrations/source.ts";
import { open } from "../../src/targets/lance/lance.ts";

const { values } = parseArgs({
  options: { rounds: { type: "string", default: "3" }, migrations: { type: "string", default: "1000" } },
});
const rounds = Number(values.rounds);
const migrations = Number(values.migrations);
const tables = 20;
const root = fileURLToPath(new URL("../..", import.meta.url));
const bin = join(root, "dist/bin.js");
const work = mkdtempSync(join(tmpdir(), "lance-migrate-bench-"));

try {
  writeProject();
  const calls = await writeBareLoop();
  const cases = [
    { name: "node -e 0", args: ["-e", "0"], wall: [] as number[] },
    { name: "migrate up", args: [bin, "up", "--quiet"], wall: [] as number[] },
    { name: "migrate up --step-by-step", args: [bin, "up", "--quiet", "--step-by-step"], wall: [] as number[] },
    { name: "bare loop", args: ["bare.mjs"], wall: [] as number[] },
  ];
  for (let round = 0; round < rounds; round++)
    for (const { name, args, wall } of cases) {
      rmSync(join(work, ".lancedb"), { recursive: true, force: true });
      const started = performance.now();
      const { status, stderr } = spawnSync(process.execPath, args, { cwd: work });
      if (status !== 0) throw new Error(`${name}: ${String(stderr)}`);
      wall.push(performance.now() - started);
    }
  console.log(
    `${migrations} migrations of ${tables} tables with ${calls} calls, ${rounds} interleaved rounds, Node ${process.versions.node}`,
  );
  for (const { name, wall } of cases) console.log(`${name.padEnd(30)}${median(wall).toFixed(0).padStart(8)} ms`);
  const [, groups, oneByOne, bare] = cases.map(({ wall }) => median(wall));
  console.log(`one by one / groups: ${(oneByOne! / groups!).toFixed(1)}`);
  console.log(`one by one / bare loop: ${(oneByOne! / bare!).toFixed(2)}`);
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** The nth change of a table: the first creates it, and the others add, rename, widen and loosen columns in turn. */
function stepOf(table: string, change: number): string {
  if (change === 0)
    return `createTable("${table}", { id: int64().notNull(), title: utf8().notNull(), embedding: vector(8) })`;
  const column = Math.floor((change - 1) / 4);
  switch ((change - 1) % 4) {
    case 0:
      return `addColumn("${table}", "n${column}", int32())`;
    case 1:
      return `renameColumn("${table}", "n${column}", "m${column}")`;
    case 2:
      return `retypeColumn("${table}", "m${column}", int64())`;
    default:
      return column === 0
        ? `setNullable("${table}", "title", true)`
        : `renameColumn("${table}", "m${column}", "k${column}")`;
  }
}

function writeProject(): void {
  mkdirSync(join(work, "migrations"));
  mkdirSync(join(work, "node_modules"));
  symlinkSync(root, join(work, "node_modules", "lance-migrate"));
  writeFileSync(join(work, "package.json"), '{ "type": "module" }\n');
  for (let index = 0; index < migrations; index++) {
    const step = stepOf(`t${index % tables}`, Math.floor(index / tables));
    const [builder] = step.split("(");
    const types = ["int32", "int64", "utf8", "vector"].filter((type) => step.includes(`${type}(`));
    const text = `import { ${[builder, ...types].join(", ")} } from "lance-migrate";\n\nexport const up = [${step}];\n`;
    writeFileSync(join(work, "migrations", `${String(index + 1).padStart(4, "0")}_${builder}.ts`), text);
  }
}

/** Writes a script that makes the calls of the plan and nothing else; returns how many calls it makes. */
async function writeBareLoop(): Promise<number> {
  const target = await open({ kind: "lance", uri: ".lancedb" }, { name: "bench", folder: work });
  const lease = { duration: 30_000, patience: 30_000 };
  const made = await plan({ target, migrations: migrationsIn(join(work, "migrations")), ledger: "_migrations", lease });
  await target.close();
  const calls = made.migrations.map(({ actions }) =>
    actions.flatMap(({ commits }) => commits.map(({ action }) => action)),
  );
  writeFileSync(join(work, "calls.json"), JSON.stringify(calls));
  const lancedb = JSON.stringify(join(root, "node_modules/@lancedb/lancedb/dist/index.js"));
  const arrow = JSON.stringify(join(root, "node_modules/apache-arrow/Arrow.node.js"));
  writeFileSync(
    join(work, "bare.mjs"),
    `import { readFileSync } from "node:fs";
import { connect } from ${lancedb};
import { Field, FixedSizeList, Float32, Int32, Int64, Schema, Utf8 } from ${arrow};
const types = {
  int32: () => new Int32(),
  int64: () => new Int64(),
  utf8: () => new Utf8(),
  fixedSizeList: ({ length }) => new FixedSizeList(length, new Field("item", new Float32(), true)),
};
const fieldOf = ({ name, type, nullable }) => new Field(name, types[type.kind](type), nullable);
const db = await connect(".lancedb");
const ledger = await db.createTable("_migrations", [{ version: 0, name: "none", at: 0 }]);
const open = new Map();
for (const [index, calls] of JSON.parse(readFileSync("calls.json", "utf8")).entries()) {
  for (const call of calls) {
    const table = open.get(call.table);
    switch (call.kind) {
      case "createTable":
        open.set(call.table, await db.createEmptyTable(call.table, new Schema(call.columns.map(fieldOf))));
        break;
      case "alterColumns":
        await table.alterColumns(call.alterations.map(({ type, ...one }) => ({ ...one, ...(type && { dataType: types[type.kind](type) }) })));
        break;
      case "addColumns":
        if (call.columns.every(({ as }) => as === undefined)) await table.addColumns(new Schema(call.columns.map(fieldOf)));
        else await table.addColumns(call.columns.map(({ name, as }) => ({ name, valueSql: as })));
        break;
      case "dropColumns":
        await table.dropColumns([...call.paths]);
        break;
      default:
        throw new Error(call.kind);
    }
  }
  await ledger.add([{ version: index + 1, name: "m", at: Date.now() }]);
}
`,
  );
  return calls.flat().length;
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}
