/** pylance judges what steps have written, in a folder and through `migrate serve`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { RowValues } from "../../src/schema/row-values.ts";
import { aProjectOn, key } from "../e2e/support/project-on.ts";
import { lacks } from "../support/needs.ts";
import { ofThisCommit } from "../support/rounds.ts";
import { startJudge } from "./judge.ts";

/** For each commit, each of two tests is on the way on which the other one is not. */
const ways = ["lance", "namespace"] as const;

/** `"\ufeff"` is a byte order mark. */
const columns = `{
  "\\ufeffid": m.utf8().notNull(), h: m.float16(), v: m.vector(3, m.float16()), at: m.timestamp("ns", "UTC"), day: m.date32()
}`;
const rows: readonly RowValues[] = [
  {
    "\ufeffid": "\ufeffabc",
    h: 0.49999,
    v: [0.49999, 2.9e-8, 2047.5],
    at: "2026-11-20T12:34:56.123456789Z",
    day: "-000044-03-15",
  },
  { "\ufeffid": "abc", h: 65_519, v: [-0.1, 6e-8, 1 / 3], at: "1677-09-21T00:12:43.145224192Z", day: "+010000-01-01" },
];
const more: RowValues = { "\ufeffid": "\0", h: 1 + 2 ** -11, v: null, at: null, day: null };

test.skipIf(lacks("python")).each(ofThisCommit(ways, 2))(
  "rows of steps are stored as they are given, on %s",
  async (way) => {
    await using judge = startJudge();
    const { data, migrate, migration } = await aProjectOn(way);
    migration("0001_t.ts", `m.createTable("t", ${columns}, { rows: ${JSON.stringify(rows)} }),`);
    migration("0002_more.ts", `m.insertRows("t", ${JSON.stringify([...rows, more])}, { key: "\\ufeffid" }),`);
    expect(await migrate(["up"], key)).toMatchObject({ code: 0 });
    expect(await judge.difference(join(data, "t.lance"), [...rows, more])).toBeNull();
  },
);

test.skipIf(lacks("python")).each(ofThisCommit(ways.toReversed(), 2))(
  "code gets each row as it is, and its vectors are stored, on %s",
  async (way) => {
    await using judge = startJudge();
    const { data, folder, migrate, migration, write } = await aProjectOn(way);
    const given = ["\ufeffabc", "abc", "\ufeff"].map((text) => ({
      key: text,
      "\ufefftext": text,
      at: "2026-11-20T12:34:56.123456Z",
    }));
    const shape = `{ key: m.utf8().notNull(), "\\ufefftext": m.utf8(), at: m.timestamp("us") }`;
    migration("0001_t.ts", `m.createTable("t", ${shape}, { rows: ${JSON.stringify(given)} }),`);
    write(
      "code.mjs",
      `import { appendFileSync } from "node:fs";
export default (rows) =>
  rows.map((row) => (appendFileSync("log.txt", JSON.stringify(row) + "\\n"), [row["\\ufefftext"].length, 0.49999]));
`,
    );
    const backfill = { from: ["\ufefftext", "at"], key: "key", with: "./code.mjs", version: "1" };
    const column = `m.addColumn("t", "v", m.vector(2, m.float16()))`;
    migration("0002_v.ts", `${column}, m.backfillColumn("t", "v", ${JSON.stringify(backfill)}),`);
    expect(await migrate(["up"], key)).toMatchObject({ code: 0 });
    const log = readFileSync(join(folder, "log.txt"), "utf8").trimEnd().split("\n");
    const sources = given.map((row) => ({ "\ufefftext": row["\ufefftext"], at: row.at }));
    expect(log.toSorted()).toEqual(sources.map((row) => JSON.stringify(row)).toSorted());
    const filled = given.map((row) => ({ ...row, v: [row["\ufefftext"].length, 0.49999] }));
    expect(await judge.difference(join(data, "t.lance"), filled)).toBeNull();
  },
);
