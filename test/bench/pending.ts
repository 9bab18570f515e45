/**
 * What it costs to apply a whole history to an empty database, as test suites do: 1,000 migrations of 20 tables in a folder,
 * run as groups, from the files or from the file of `migrate build`, one by one, and by a bare loop that makes the same
 * calls of the engine and adds one row to a table after each migration. Whole processes, interleaved: read the ratios. `npm run bench pending [-- --rounds N --migrations N]`.
 */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bundleName } from "../../src/features/bundle/bundle.ts";
import { plan } from "../../src/commands/plan.ts";
import { migrationsIn } from "../../src/migrations/source.ts";
import { open } from "../../src/targets/lance/lance.ts";
import { writeHistory } from "./history-scene.ts";
import { median, timeOf } from "./measure.ts";
import { bin, optionsOf, root, temporaryFolder } from "./project.ts";

const values = optionsOf({ rounds: "3", migrations: "1000" });
const [rounds, migrations] = [Number(values.rounds), Number(values.migrations)];
const tables = 20;
const work = temporaryFolder();

writeHistory(work, { migrations, tables });
const calls = await writeBareLoop();
timeOf([bin, "build", "--quiet"], work);
const cases = [
  { name: "node -e 0", args: ["-e", "0"], wall: [] as number[] },
  { name: "migrate up", args: [bin, "up", "--quiet"], wall: [] as number[] },
  { name: "migrate up --bundle", args: [bin, "up", "--quiet", "--bundle", bundleName], wall: [] as number[] },
  { name: "migrate up --step-by-step", args: [bin, "up", "--quiet", "--step-by-step"], wall: [] as number[] },
  { name: "bare loop", args: ["bare.mjs"], wall: [] as number[] },
];
for (let round = 0; round < rounds; round++)
  for (const { args, wall } of cases) {
    rmSync(join(work, ".lancedb"), { recursive: true, force: true });
    wall.push(timeOf(args, work));
  }
console.log(
  `${migrations} migrations of ${tables} tables with ${calls} calls, ${rounds} interleaved rounds, Node ${process.versions.node}`,
);
for (const { name, wall } of cases) console.log(`${name.padEnd(30)}${median(wall).toFixed(0).padStart(8)} ms`);
const [, groups, bundled, oneByOne, bare] = cases.map(({ wall }) => median(wall));
console.log(`one by one / groups: ${(oneByOne! / groups!).toFixed(1)}`);
console.log(`one by one / groups from a bundle: ${(oneByOne! / bundled!).toFixed(1)}`);
console.log(`one by one / bare loop: ${(oneByOne! / bare!).toFixed(2)}`);

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
