/** What `execute` sets in a vector is what its SQL states, or nothing is changed. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { aProjectOn, key } from "../e2e/support/project-on.ts";
import { lacks } from "../support/needs.ts";
import { ofThisCommit } from "../support/rounds.ts";
import { startJudge } from "./judge.ts";

/** For each commit, each of two tests is on the way on which the other one is not. */
const ways = ["lance", "namespace"] as const;
const rows = [
  { id: 1, v: [1, 2, 3], n: [1, 2] },
  { id: 2, v: null, n: null },
];

async function aTable(way: (typeof ways)[number]) {
  const project = await aProjectOn(way);
  const shape = "{ id: m.int32(), v: m.vector(3), n: m.fixedSizeList(m.int32(), 2) }";
  project.migration("0001_t.ts", `m.createTable("t", ${shape}, { rows: ${JSON.stringify(rows)} }),`);
  expect(await project.migrate(["up"], key)).toMatchObject({ code: 0 });
  return { ...project, table: join(project.data, "t.lance") };
}

const wrong = [
  ["v", "[9.0, 9.0]"],
  ["v", "[1, 2, 3, 4]"],
  ["v", "['a', 'b', 'c']"],
  ["v", "[]"],
  ["n", "[1, 2, 3]"],
  ["n", "['x', 'y']"],
  ["v", "case when id = 1 then [1.0, 2.0, 3.0] else [1.0, 2.0] end"],
] as const;

test.skipIf(lacks("python")).each(ofThisCommit(ways, 2))(
  "a vector that does not fit is an error and changes nothing, on %s",
  async (way) => {
    await using judge = startJudge();
    const { migrate, migration, table } = await aTable(way);
    for (const [column, sql] of wrong) {
      migration("0002_set.ts", `m.execute("t", { update: { ${column}: ${JSON.stringify(sql)} } }),`);
      const { code, stderr } = await migrate(["up", "--accept", "lossy"], key);
      expect([sql, code === 1 || code === 4, stderr]).toEqual([
        sql,
        true,
        expect.stringContaining("0002_set.ts, step 1"),
      ]);
      expect([sql, await judge.difference(table, rows)]).toEqual([sql, null]);
    }
  },
);

test.skipIf(lacks("python")).each(ofThisCommit(ways.toReversed(), 2))(
  "a vector that fits is set, and null too, on %s",
  async (way) => {
    await using judge = startJudge();
    const { migrate, migration, table } = await aTable(way);
    const set = { v: "[id, 0.5, cast(2 as double)]", n: "null" };
    migration("0002_set.ts", `m.execute("t", { update: ${JSON.stringify(set)} }),`);
    expect(await migrate(["up", "--accept", "lossy"], key)).toMatchObject({ code: 0 });
    const after = rows.map(({ id }) => ({ id, v: [id, 0.5, 2], n: null }));
    expect(await judge.difference(table, after)).toBeNull();
  },
);
