import * as fc from "../../../../support/fast-check.ts";
import {
  addColumn,
  createIndex,
  createTable,
  dropColumn,
  fts,
  insertRows,
  int32,
  int64,
  renameColumn,
  renameTable,
  retypeColumn,
  setNullable,
  utf8,
  type Step,
} from "lance-migrate";
import { expect, test } from "vitest";
import type { MigrateError } from "../../../../../src/errors/migrate-error.ts";
import { foldLedger } from "../../../../../src/ledger/state/fold.ts";
import type { Migration } from "../../../../../src/migrations/load.ts";
import { makePlan } from "../../../../../src/plan/make-plan.ts";
import {
  planWhatWorks,
  type PlacedDoubt,
} from "../../../../../src/features/shared/check-migrations/plan-what-works.ts";
import { abilitiesOf } from "../../../../simulate/target/memory-target.ts";
import { chanceOf } from "../../../../simulate/seeded-random.ts";
import { aMigration, drawHistory } from "../../../../simulate/history.ts";

const state = foldLedger([]);
const capabilities = abilitiesOf("namespace");
const input = { state, inDoubt: state.inDoubt, target: { name: "prod", capabilities }, ledger: "_migrations" };

/** What is told of migrations, and the plan of the rest. */
function check(migrations: readonly Migration[], doubts: Readonly<Record<number, readonly PlacedDoubt[]>> = {}) {
  const problems: MigrateError[] = [];
  const read = migrations.map((migration) => ({ migration, doubts: doubts[migration.version] ?? [] }));
  const sound = planWhatWorks(read, input, (problem) => problems.push(problem));
  const places = problems.map(({ details }) => details as { file: string; step: number; of?: string });
  const told = places.map(({ file, step, of = "" }) => `${Number.parseInt(file)}.${of}${step}`);
  return { told, messages: problems.map(({ message }) => message), ...sound };
}

const table = createTable("t", { id: int32().notNull(), title: utf8(), body: utf8() });
const histories = (...all: readonly (readonly Step[])[]) => all.map((steps, index) => aMigration(index + 1, steps));

test("all steps that can't work are told, each in its place", () => {
  const wrong = [retypeColumn("t", "titel", utf8()), renameColumn("t", "title", "headline"), dropColumn("x", "a")];
  const { told, migrations } = check(histories([table], wrong, [dropColumn("t", "titel"), dropColumn("t", "body")]));
  expect(told).toEqual(["2.1", "2.3", "3.1"]);
  // The others keep their numbers.
  expect(migrations.map(({ actions }) => actions.map(({ place }) => place.step))).toEqual([[1], [2], [2]]);
});

test("of rows that can't be brought nothing follows for the columns that they name", () => {
  const rows = insertRows("t", [{ id: 1, body: "x" }], { key: "titel" });
  expect(check(histories([table], [rows, setNullable("t", "body", true)])).told).toEqual(["2.1", "2.2"]);
});

test.each<{ title: string; steps: readonly Step[]; told: readonly string[] }>([
  {
    title: "a column that could not be added",
    steps: [
      addColumn("t", "a", int32().notNull()),
      setNullable("t", "a", true),
      renameColumn("t", "a", "b"),
      dropColumn("t", "b"),
    ],
    told: ["2.1"],
  },
  {
    title: "a table that could not be created",
    steps: [
      createTable("u", { a: int32(), A: utf8() }),
      dropColumn("u", "a"),
      renameTable("u", "v"),
      dropColumn("v", "z"),
    ],
    told: ["2.1"],
  },
  {
    title: "a name that could not be given",
    steps: [
      renameColumn("t", "titel", "headline"),
      createIndex("t", "headline", fts()),
      setNullable("t", "headline", false),
    ],
    told: ["2.1"],
  },
  {
    title: "a type that could not be given",
    steps: [retypeColumn("t", "title", int64()), retypeColumn("t", "title", int32())],
    told: ["2.1"],
  },
])("what follows from $title is not told", ({ steps, told }) => {
  expect(check(histories([table], steps)).told).toEqual(told);
});

test("a name that nothing makes is told wherever it is used, also in another table", () => {
  const steps = [
    addColumn("t", "a", int32().notNull()),
    dropColumn("t", "titel"),
    setNullable("t", "titel", false),
    createTable("u", { id: int32() }),
    dropColumn("u", "a"),
    dropColumn("x", "a"),
    dropColumn("x", "a"),
  ];
  expect(check(histories([table], steps)).told).toEqual(["2.1", "2.2", "2.3", "2.5", "2.6", "2.7"]);
});

test("what a file that can't be read names is in doubt, and nothing else", () => {
  const all = histories([table], [], [dropColumn("notes", "a"), dropColumn("t", "titel"), dropColumn("t", "extra")]);
  const text = `createTable("notes", {}; addColumn("t", "extra"`;
  expect(check(all, { 2: [{ step: 0, text }] }).told).toEqual(["3.2"]);
  expect(check(all, { 2: [{ step: 0, text: undefined }] }).told).toEqual([]);
  expect(check(all).told).toEqual(["3.1", "3.2", "3.3"]);
});

test("a step that is none leaves in doubt what comes after it, not what comes before", () => {
  const drop = dropColumn("t", "extra");
  const steps: Step[] = [drop];
  steps[2] = drop;
  const doubt = { step: 2, text: `["t","extra"]` };
  expect(check(histories([table], steps), { 2: [doubt] }).told).toEqual(["2.1"]);
});

test("what the target can't do is told beside what can't work before it", () => {
  const plain = { ...input, target: { name: "prod", capabilities: abilitiesOf("service") } };
  const problems: MigrateError[] = [];
  const steps = [renameColumn("t", "titel", "a"), dropColumn("t", "titel"), renameColumn("t", "body", "text")];
  const read = histories([table], steps).map((migration) => ({ migration, doubts: [] }));
  const { after } = planWhatWorks(read, plain, (problem) => problems.push(problem));
  expect(problems.map(({ code }) => code).toSorted()).toEqual(["ERR_STEP_IMPOSSIBLE", "ERR_UNSUPPORTED"]);
  expect(after.get("t")!.columns.map(({ name }) => name)).toEqual(["id", "title", "text"]);
});

test("a down that does not lead back is told, and what comes after it is checked all the same", () => {
  const [first, second, third] = histories([table], [renameColumn("t", "title", "a")], [dropColumn("t", "nix")]);
  const down = [renameColumn("t", "a", "b")];
  const { told, messages, after } = check([first!, { ...second!, down }, third!]);
  expect(told).toEqual(["2.down1", "3.1"]);
  expect(messages[0]).toContain("that does not lead to the tables before it");
  expect(after.get("t")!.columns.map(({ name }) => name)).toEqual(["id", "a", "body"]);
});

test("of steps that can't work the way back is not asked for", () => {
  const second = { ...aMigration(2, [renameColumn("t", "titel", "a")]), down: [renameColumn("t", "a", "titel")] };
  expect(check([aMigration(1, [table]), second]).told).toEqual(["2.1"]);
});

test("right migrations have no problems and the plan that up has", () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const migrations = drawHistory(chanceOf(seed), "namespace");
      const { told, migrations: planned, after } = check(migrations);
      const plan = makePlan({ ...input, migrations, pending: migrations });
      expect(told).toEqual([]);
      expect(planned.map(({ actions }) => actions)).toEqual(plan.migrations.map(({ actions }) => actions));
      for (const [name, one] of planned.at(-1)!.actions.at(-1)!.after) expect(after.get(name)).toEqual(one);
    }),
  );
});

test("of a wrong step among right ones that one is told", () => {
  fc.assert(
    fc.property(fc.integer(), fc.nat(), fc.nat(), (seed, where, which) => {
      const migrations = drawHistory(chanceOf(seed), "namespace");
      const at = where % migrations.length;
      const { steps } = migrations[at]!;
      const step = which % (steps.length + 1);
      const planted = steps.toSpliced(step, 0, addColumn("nowhere", "planted", int32()));
      const all = migrations.with(at, aMigration(at + 1, planted));
      expect(check(all).told).toEqual([`${at + 1}.${step + 1}`]);
    }),
  );
});
