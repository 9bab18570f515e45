import { expect, test } from "vitest";
import type { FillColumnAction } from "../../../../../src/actions/model/action.ts";
import { preparedMark, preparedName } from "../../../../../src/actions/rewrite/prepared-columns.ts";
import { markColumn } from "../../../../../src/actions/rewrite/source-marks.ts";
import { NoAnswer, type Compute } from "../../../../../src/features/embed/compute/compute-all.ts";
import { computeAhead, type AheadContext } from "../../../../../src/features/embed/compute/compute-ahead.ts";
import { fragmentsBefore } from "../../../../../src/features/embed/compute/results.ts";
import { partsOf } from "../../../../../src/features/embed/compute/staging-name.ts";
import { fillColumn } from "../../../../../src/features/embed/fill/fill-column.ts";
import type { Column } from "../../../../../src/schema/data-type.ts";
import { open } from "../../../../../src/targets/lance/lance.ts";
import type { WantedValues } from "../../../../../src/targets/contract/row-access.ts";
import { temporaryFolder } from "../../../../support/project.ts";
import { phases } from "../fill/fill-scene.ts";
import { ofThisCommit } from "../../../../support/rounds.ts";
import { lancedb, rowsOf } from "../../../../support/tables.ts";
import { lengths } from "../fill/fill-scene.ts";

const [staging, results] = ["_migrations.computed-test", "_migrations.results-test"];
const next = preparedName("length");
const mark = preparedMark("length");
const own: readonly Column[] = [
  { name: "id", type: { kind: "int64" }, nullable: true },
  { name: "text", type: { kind: "utf8" }, nullable: true },
];
const added: readonly Column[] = [{ name: next, type: { kind: "int32" }, nullable: true }, markColumn(mark)];

const action: FillColumnAction = {
  kind: "fillColumn",
  table: "docs",
  path: next,
  from: ["text"],
  key: "id",
  with: "./lengths.ts",
  version: "1",
  mark,
  overwrite: true,
  batch: 10,
  concurrency: 1,
};

/** Of another length than those of most other rows, and different from all of them. */
const textOf = (id: number) => String(id).padEnd(4 + (id % 17), "x");

type Given = Partial<AheadContext> & { readonly compute?: Compute };

/** A table of several fragments. */
async function aScene(fragments = 3, size = 40) {
  const folder = temporaryFolder();
  const target = await open({ kind: "lance", uri: folder }, { name: "test", folder });
  const rows = target.rows!;
  for (let part = 0; part < fragments; part++) {
    const ids = Array.from({ length: size }, (_, at) => part * size + at);
    await rows.append("docs", { columns: own, rows: ids.map((id) => ({ id, text: textOf(id) })) });
  }
  const computed: (string | null)[] = [];
  const contextOf = ({ compute = lengths, ...others }: Given) => ({
    rows,
    staging,
    mayWrite: async () => {},
    progress: () => {},
    start: async (): Promise<Compute> => async (some) => {
      const values = await compute(some);
      computed.push(...some.map(({ text }) => text as string | null));
      return values;
    },
    ...others,
  });
  return {
    target,
    rows,
    computed,
    docs: async () => await (await lancedb.connect(folder)).openTable("docs"),
    ahead: async ({ first = results, ...given }: Given & { readonly first?: string } = {}, options = {}) =>
      await computeAhead({ ...action, ...options }, [...own, ...added], {
        results: partsOf(await target.listTables(), first),
        ...contextOf(given),
      }),
    /** Adds the column, unless it is there, and loads it. Returns how many rows were computed only now. */
    async load(options: Partial<FillColumnAction> = {}, isThere = false) {
      const before = computed.length;
      if (!isThere)
        await target.execute({ kind: "addColumns", table: "docs", columns: added }, await target.describeTable("docs"));
      const table = { columns: [...own, ...added] } as never;
      await fillColumn({ ...action, ...options }, table, {
        ...contextOf({}),
        phases,
        verdict: (error) => target.verdict(error),
        outrun: () => {},
        staged: [staging],
        results: partsOf(await target.listTables(), results).parts,
      });
      return computed.length - before;
    },
    async values() {
      const found = (await rowsOf(folder, "docs")) as unknown as readonly Record<string, number | string>[];
      return found.toSorted((one, other) => Number(one["id"]) - Number(other["id"]));
    },
    tables: async () => (await target.listTables()).toSorted(),
  };
}

type Scene = Awaited<ReturnType<typeof aScene>>;

async function expectRight(scene: Scene) {
  const found = await scene.values();
  for (const row of found) expect(row[next], `row ${row["id"]}`).toBe(String(row["text"]).length);
  expect(await scene.tables()).toEqual(["docs"]);
  return found.length;
}

test("values are computed beside the table, which gets no version, and then loaded", async () => {
  const scene = await aScene();
  const version = await scene.rows.version("docs");
  expect(await scene.ahead()).toBeUndefined();
  expect(await scene.rows.version("docs")).toBe(version);
  expect(await scene.tables()).toEqual([results, "docs"]);
  expect(scene.computed).toHaveLength(120);
  expect(await scene.load()).toBe(0);
  expect(await expectRight(scene)).toBe(120);
});

test.each(ofThisCommit([1, 2, 3, 5, 8, 11, 13], 3))(
  "a run that is killed at write %i computes only the calls again that were under way",
  async (killed) => {
    const scene = await aScene();
    let writes = 0;
    const mayWrite = async () => {
      if (++writes === killed) throw new Error("killed");
    };
    await scene.ahead({ mayWrite }).catch(() => {});
    expect(await scene.ahead()).toBeUndefined();
    expect(scene.computed.length).toBeLessThanOrEqual(120 + 20);
    expect(await scene.load()).toBe(0);
    expect(await expectRight(scene)).toBe(120);
  },
);

test("rows that have moved since they were computed are not computed again, others are", async () => {
  const scene = await aScene();
  let calls = 0;
  const compute: Compute = async (some) => {
    if (++calls > 6) throw Object.assign(new Error("no more"), { code: "STOP" });
    return await lengths(some);
  };
  await scene.ahead({ compute }).catch(() => {});
  const before = scene.computed.length;
  expect(before).toBe(60);
  const docs = await scene.docs();
  await docs.delete("id = 3");
  await docs.update({ where: "id = 5", values: { text: "changed" } });
  await docs.optimize();
  expect(await scene.ahead()).toBeUndefined();
  // Those that were left, and the one that changed.
  expect(scene.computed.length - before).toBe(61);
  expect(await scene.load()).toBe(0);
  expect(await expectRight(scene)).toBe(119);
});

test("rows that are written while others are computed get their value, whenever they are found", async () => {
  const scene = await aScene();
  const docs = await scene.docs();
  let calls = 0;
  const compute: Compute = async (some) => {
    if (++calls === 3) {
      await docs.add([{ id: 1_000, text: "added" }]);
      await docs.update({ where: "id = 2 or id = 100", values: { text: "changed" } });
    }
    return await lengths(some);
  };
  expect(await scene.ahead({ compute })).toBeUndefined();
  await docs.add([{ id: 1_001, text: "late" }]);
  await scene.load();
  expect(await expectRight(scene)).toBe(122);
});

test("results of another version of the code, or of another type, are of no use", async () => {
  const scene = await aScene(1);
  await scene.ahead();
  expect(scene.computed).toHaveLength(40);
  await scene.ahead({}, { version: "2" });
  expect(scene.computed).toHaveLength(80);
  await scene.ahead({}, { version: "2" });
  expect(scene.computed).toHaveLength(80);
  expect(await scene.load({ version: "2" })).toBe(0);
  await expectRight(scene);
});

test("rows for which the code failed are computed again by the next run", async () => {
  const scene = await aScene(1);
  const compute: Compute = async (some) => {
    if (some.some(({ text }) => String(text).length === 7)) throw new Error("no seven");
    return await lengths(some);
  };
  expect(await scene.ahead({ compute }, { failedRows: "leave" })).toEqual({ rows: 3, text: "no seven" });
  const before = scene.computed.length;
  expect(await scene.ahead({}, { failedRows: "leave" })).toBeUndefined();
  expect(scene.computed.slice(before)).toEqual([3, 20, 37].map(textOf));
  expect(await scene.load()).toBe(0);
  await expectRight(scene);
});

test("code that fails for every row stops the next run too", async () => {
  const scene = await aScene();
  const compute: Compute = async () => Promise.reject(new Error("no key"));
  for (const run of [1, 2, 3])
    await expect(scene.ahead({ compute }, { failedRows: "leave" }), `run ${run}`).rejects.toThrow("no key");
  expect(await scene.ahead({}, { failedRows: "leave" })).toBeUndefined();
  expect(await scene.load()).toBe(0);
  await expectRight(scene);
});

test("rows of many small fragments are given to the code together", async () => {
  const scene = await aScene(20, 3);
  const calls: number[] = [];
  await scene.ahead({
    compute: async (some) => {
      calls.push(some.length);
      return await lengths(some);
    },
  });
  expect(calls).toEqual([10, 10, 10, 10, 10, 10]);
  expect(await scene.load()).toBe(0);
  expect(await expectRight(scene)).toBe(60);
});

test("a run that is killed before the first rows were kept computes them first", async () => {
  const scene = await aScene(20, 10);
  const compute: Compute = async (some) => {
    if (some.some(({ text }) => text === textOf(0))) throw new NoAnswer("killed");
    return await lengths(some);
  };
  await expect(scene.ahead({ compute }, { concurrency: 4 })).rejects.toThrow("killed");
  const kept = (await scene.rows.read(results, { select: [["id", "id"]] })).length;
  expect(kept).toBeGreaterThan(0);
  await scene.ahead();
  const { parts } = partsOf(await scene.tables(), results);
  const all = await Promise.all(parts.map((name) => scene.rows.read(name, { select: [["id", "id"]] })));
  expect(all.flat()).toHaveLength(200);
  expect(await scene.load()).toBe(0);
  expect(await expectRight(scene)).toBe(200);
});

test("a run stops when another one has added the column, and the fill computes the rest", async () => {
  const scene = await aScene(3, 400);
  const compute: Compute = async (some) => {
    if (scene.computed.length === 30)
      await scene.target.execute(
        { kind: "addColumns", table: "docs", columns: added },
        await scene.target.describeTable("docs"),
      );
    return await lengths(some);
  };
  await scene.ahead({ compute });
  expect(scene.computed).toHaveLength(500);
  expect(await scene.load({}, true)).toBe(700);
  expect(await expectRight(scene)).toBe(1_200);
});

test("what is loaded already is not merged again", async () => {
  const scene = await aScene();
  await scene.ahead();
  const columns = (await scene.rows.columns(results))!;
  const select = columns.map(({ name }) => [name, name] as const);
  const known = await scene.rows.read(results, { select });
  await scene.load();
  await scene.rows.append(results, { columns, rows: known });
  const docs = await scene.docs();
  await docs.update({ where: "id = 5", valuesSql: { [next]: "null", [mark]: "null" } });
  const version = (await scene.rows.version("docs"))!;
  expect(await scene.load({}, true)).toBe(0);
  expect(await scene.rows.version("docs")).toBe(version + 1);
  await expectRight(scene);
});

test("code that was edited while it computed must give the same values", async () => {
  const scene = await aScene(2);
  const stopped: Compute = async (some) => {
    if (some.some(({ text }) => (text as string).length > 18)) throw new Error("stop here");
    return await lengths(some);
  };
  await scene.ahead({ compute: stopped, codeHash: "one" }).catch(() => {});
  const other: Compute = async (some) => some.map(() => 99);
  await expect(scene.ahead({ compute: other, codeHash: "two" })).rejects.toThrow(
    /was edited after it had computed rows/,
  );
  expect(await scene.ahead({ codeHash: "two" })).toBeUndefined();
  expect(await scene.load()).toBe(0);
  await expectRight(scene);
});

/** How a shard computes: as in `compute-session.ts`, beside others of as many, which may have computed rows that moved. */
function shardsIn(scene: Scene, of: number) {
  const nameOf = (index: number) => `${results}-${index}-of-${of}`;
  return async (index: number, given: Parameters<Scene["ahead"]>[0] = {}) =>
    await scene.ahead({
      shard: { index, of },
      first: nameOf(index),
      staging: `${staging}-${index}-of-${of}`,
      others: async () => {
        const siblings = Array.from({ length: of }, (_, at) => nameOf(at + 1)).filter((name) => name !== nameOf(index));
        const found = siblings.map(async (name) => ({
          name,
          before: await fragmentsBefore(name, added, action, scene.rows),
        }));
        return (await Promise.all(found)).flatMap(({ name, before }) =>
          before === undefined ? [] : [{ name, before }],
        );
      },
      ...given,
    });
}

test("shards do not compute again what was computed with another number of shards", async () => {
  const scene = await aScene();
  await shardsIn(scene, 2)(1);
  const before = scene.computed.length;
  const known = [{ name: `${results}-1-of-2`, before: -1 }];
  for (const index of [1, 2, 3, 4]) await shardsIn(scene, 4)(index, { others: async () => known });
  expect(before).toBeGreaterThan(0);
  expect(scene.computed).toHaveLength(120);
});

test.each([
  ["as many fragments as shards", 3, 3, 40],
  ["one fragment", 3, 1, 120],
  ["more fragments than shards", 2, 12, 10],
])("shards share the rows of %s, and compute each once", async (_, of, fragments, size) => {
  const scene = await aScene(fragments, size);
  const shard = shardsIn(scene, of);
  for (let index = 1; index <= of; index++) {
    const before = scene.computed.length;
    await shard(index);
    expect(scene.computed.length - before).toBeGreaterThan(20);
  }
  expect(scene.computed).toHaveLength(120);
  const names = Array.from({ length: of }, (_each, at) => `${results}-${at + 1}-of-${of}`);
  expect(await scene.tables()).toEqual([...names, "docs"]);
});

test("a shard computes no rows that another one has computed before they moved, and the next runs the others", async () => {
  const scene = await aScene(6, 40);
  const shard = shardsIn(scene, 3);
  const stopped: Compute = async (some) => {
    if (scene.computed.length >= 100) throw new Error("stop here");
    return await lengths(some);
  };
  await shard(1);
  await shard(2, { compute: stopped }).catch(() => {});
  const before = scene.computed.length;
  expect(before).toBeLessThan(150);
  const docs = await scene.docs();
  await docs.update({ where: "id = 100", values: { text: "changed" } });
  await docs.optimize();
  for (const index of [3, 2, 1]) await shard(index);
  // The row that was changed may have been computed before.
  expect(scene.computed.length).toBeLessThanOrEqual(241);
  expect(scene.computed.length).toBeGreaterThanOrEqual(240);
  for (const index of [1, 2, 3]) await shard(index);
  expect(scene.computed.length).toBeLessThanOrEqual(241);
});

test("a shard reads the sources of its own rows alone", async () => {
  const scene = await aScene(2, 60);
  const read: unknown[] = [];
  const { rows } = scene;
  const watched = {
    ...rows,
    read: async (table: string, wanted: WantedValues) => {
      const found = await rows.read(table, wanted);
      if (table === "docs") read.push(...found.map(({ id }) => id));
      return found;
    },
  };
  const progress: (number | undefined)[] = [];
  await shardsIn(scene, 2)(1, { rows: watched, progress: (_, total) => void progress.push(total) });
  expect(read.length).toBe(scene.computed.length);
  expect(read.length).toBeLessThan(80);
  expect(progress.at(-1)).toBe(read.length);
});

test("only rows for which `where` holds are computed", async () => {
  const scene = await aScene();
  await scene.ahead({}, { where: "id % 4 = 1" });
  expect(scene.computed).toHaveLength(30);
});

test("a key that is not unique is refused", async () => {
  const scene = await aScene(1);
  await scene.rows.append("docs", {
    columns: own,
    rows: [
      { id: 500, text: "a" },
      { id: 500, text: "b" },
    ],
  });
  await expect(scene.ahead()).rejects.toThrow("docs.id is 500 in 2 rows or more");
});

test("after many appends, results go on in another table, and a run that resumes computes no row twice", async () => {
  const scene = await aScene(1, 520);
  let left = 505;
  const stopped: Compute = async (some) =>
    left-- > 0 ? await lengths(some) : await Promise.reject(new NoAnswer("no"));
  await scene.ahead({ compute: stopped }, { batch: 1 }).catch(() => {});
  expect(await scene.tables()).toEqual([results, `${results}.1`, "docs"]);
  await (await scene.docs()).update({ where: "id = 0 or id = 519", valuesSql: { text: "concat(text, '!')" } });
  expect(await scene.ahead({}, { batch: 1 })).toBeUndefined();
  expect(await scene.tables()).toEqual([results, `${results}.1`, "docs"]);
  // The first of them was computed before it changed.
  expect(scene.computed).toHaveLength(521);
  expect(await scene.load()).toBe(0);
  await expectRight(scene);
});
