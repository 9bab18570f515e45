import { expect, test } from "vitest";
import type { Able } from "../../../../src/plan/compile/compile.ts";
import { lineagesOf } from "../../../../src/actions/follow.ts";
import { oneByOne } from "../../../../src/plan/compile/undescribed.ts";
import { classify } from "../../../../src/plan/rollback/rollback-class.ts";
import {
  columnsOf,
  float32,
  float64,
  int32,
  int64,
  struct,
  utf8,
} from "../../../../src/schema/declare/type-builders.ts";
import type { Action } from "../../../../src/actions/model/action.ts";
import { tablesAfter } from "../../../../src/actions/apply-action.ts";
import { change, type Database, type Table } from "../../../../src/schema/table.ts";
import { chanceOf } from "../../../simulate/seeded-random.ts";
import { compileStep } from "../../../../src/steps/registry.ts";
import { abilitiesOf } from "../../../simulate/target/memory-target.ts";
import { models, type Model } from "../../../simulate/target/carry.ts";
import { drawHistory } from "../../../simulate/history.ts";

const before = new Map([["t", { columns: columnsOf({ a: int32().notNull(), b: utf8(), f: float64() }) }]]);
const alter = (...alterations: Extract<Action, { kind: "alterColumns" }>["alterations"]): Action => ({
  kind: "alterColumns",
  table: "t",
  alterations,
});
const create: Action = { kind: "createTable", table: "u", columns: columnsOf({ a: int32() }) };

function classOf(action: Action, database: Database, able: Able) {
  const place = { file: "", step: 1, kind: action.kind };
  return classify([{ place, action }], lineagesOf([action]), database, able)[0]!;
}

test.each<[string, Action, Model, object]>([
  [
    "a rename",
    alter({ path: "b", rename: "c" }),
    "service",
    { class: "exact", text: "rename t.c to b", reason: undefined },
  ],
  [
    "a wider type",
    alter({ path: "a", type: int64().type }),
    "service",
    { class: "checked", text: "retype t.a to int32", reason: "refused if values of t.a would change as int32" },
  ],
  [
    "a narrower type",
    alter({ path: "f", type: float32().type }),
    "embedded",
    {
      class: "restore",
      text: "restore t as it was before",
      reason: "t.f may silently lose precision or range: float64 to float32",
    },
  ],
  [
    "a narrower type where old versions can't be restored",
    alter({ path: "f", type: float32().type }),
    "service",
    { class: "none", text: "", reason: "t.f may silently lose precision or range: float64 to float32" },
  ],
  ["a new table", create, "embedded", { class: "checked", text: "drop table u", reason: "refused if u holds rows" }],
  ["one that can't be dropped", create, "service", { class: "none", reason: "the target has no call for dropTable" }],
  [
    "a swap where tables can't be seen",
    alter({ path: "a", rename: "b" }, { path: "b", rename: "a" }),
    "service",
    {
      class: "exact",
      text: "rename t.b to _lance_migrate_swap_b, then rename t.a to b, then rename t._lance_migrate_swap_b to a",
    },
  ],
])("%s: its class, what rolls it back, and why", (_, action, model, expected) => {
  expect(classOf(action, before, abilitiesOf(model))).toMatchObject(expected);
});

test.each([
  [true, "restore"],
  [false, "checked"],
] as const)("making a field of a struct nullable, where the struct may be null: %s, is of class %s", (nullable, is) => {
  const [s] = columnsOf({ s: struct({ x: int32().notNull() }) });
  const inStruct = new Map([["t", { columns: [{ ...s!, nullable }] }]]);
  const action = alter({ path: "s.x", nullable: true });
  expect(classOf(action, inStruct, abilitiesOf("embedded")).class).toBe(is);
});

test("rows that a migration itself gives to a new table do not block its rollback where versions tell them apart", () => {
  const given = { ...create, rows: [{ a: 1 }] } as Action;
  const reasonIn = (restoreTable?: true) =>
    classOf(given, before, {
      ...abilitiesOf("embedded"),
      actions: { createTable: true, dropTable: true, restoreTable },
    }).reason;
  expect(reasonIn(true)).toBe("refused if rows of u were written since");
  expect(reasonIn()).toBe("refused if u holds more rows");
});

// What a refresh writes follows from other columns, and an optimized table or a rebuilt index holds the same.
const leftAsIs: ReadonlySet<string> = new Set(["refreshColumn", "optimizeTable", "rebuildIndex"]);

test("what has a way back has one that the target can go, and what has none a reason", () => {
  const seen = new Set<string>();
  for (let seed = 1; seed <= 600; seed++) {
    const model = models[seed % models.length]!;
    const abilities = abilitiesOf(model);
    const database = new Map<string, Table>();
    const steps = drawHistory(chanceOf(seed), model).flatMap(({ steps }) => steps.flatMap(compileStep));
    for (const action of abilities.describes ? steps : steps.flatMap(oneByOne)) {
      const { class: is, actions, reason } = classOf(action, database, abilities);
      seen.add(is);
      expect(actions.every(({ kind }) => abilities.actions[kind] === true)).toBe(true);
      const isInverted = (is === "exact" || is === "checked") && !leftAsIs.has(action.kind);
      expect([actions.length > 0, reason === undefined]).toEqual([isInverted, is === "exact"]);
      change(database, tablesAfter(database, action));
    }
  }
  expect([...seen].toSorted()).toEqual(["checked", "exact", "none", "restore"]);
});
