import {
  addColumn,
  createTable,
  dropColumn,
  dropTable,
  float32,
  float64,
  int32,
  int64,
  renameColumn,
  retypeColumn,
  utf8,
  type Step,
} from "lance-migrate";
import { expect, test } from "vitest";
import { foldLedger } from "../../../../src/ledger/state/fold.ts";
import type { Acceptance } from "../../../../src/migrations/acceptance.ts";
import { checkRefusals, withRefusals, type Guards } from "../../../../src/plan/assess/guards.ts";
import { makePlan, type Plan } from "../../../../src/plan/make-plan.ts";
import { abilitiesOf } from "../../../simulate/target/memory-target.ts";
import type { Capabilities } from "../../../../src/targets/contract/target.ts";
import { aMigration } from "../../../simulate/history.ts";

const keeping: Capabilities = {
  ...abilitiesOf("namespace"),
  actions: { ...abilitiesOf("namespace").actions, restoreTable: true },
};
const table = createTable("t", { a: int32(), f: float64() });
const another = createTable("other", { a: int32() });

/** The plan of a migration on a table that another one has made, or of both. */
function planOf(
  steps: readonly Step[],
  more: { capabilities?: Capabilities; accepts?: readonly Acceptance[]; down?: readonly Step[] } = {},
): Plan {
  const { capabilities = keeping, ...own } = more;
  const [first, second] = [aMigration(1, [table, another]), { ...aMigration(2, steps), ...own }];
  const target = { name: "prod", capabilities };
  return makePlan({
    migrations: [first, second],
    pending: [first, second],
    state: foldLedger([]),
    inDoubt: new Set(),
    target,
    ledger: "_l",
  });
}

function refused(plan: Plan, guards: Guards = {}, accept: readonly Acceptance[] = []): string {
  try {
    checkRefusals(withRefusals(plan, guards, accept), "prod", "migrate up");
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}

const dropped = [dropColumn("t", "f")];

test("what loses something needs consent: in the file, from whoever runs it, or in the configuration", () => {
  expect(refused(planOf(dropped))).toMatch(
    /step 1 \(dropColumn\) needs consent: t.f is dropped with its values; run migrate up --accept lossy, or write export const accepts = \["lossy"\] into the file$/,
  );
  expect(refused(planOf(dropped, { accepts: ["lossy"] }))).toBe("");
  expect(refused(planOf(dropped), {}, ["lossy"])).toBe("");
  expect(refused(planOf(dropped), { accepts: ["lossy"] })).toBe("");
});

test("whoever is asked hears of what else needs consent, so that he is not asked once for each", () => {
  const steps = [dropColumn("t", "f"), dropTable("other")];
  expect(refused(planOf(steps))).toMatch(
    /into the file; 1 more step needs consent, and --accept irreversible covers all: see migrate plan$/,
  );
  expect(refused(planOf(steps), {}, ["lossy"])).toMatch(/step 2 .*; run migrate up --accept irreversible, or write /);
  expect(refused(planOf(steps.toReversed()))).toMatch(/into the file; 1 more step needs consent: see migrate plan$/);
});

test("what nothing brings back needs the stronger word, which holds for the weaker one too", () => {
  const gone = planOf([dropTable("t")]);
  expect(refused(gone, {}, ["lossy"])).toMatch(
    /and nothing brings that back; run migrate up --accept irreversible, or /,
  );
  expect(refused(gone, {}, ["irreversible"])).toBe("");
  expect(refused(planOf(dropped), {}, ["irreversible"])).toBe("");
  const { restoreTable: _, ...others } = keeping.actions;
  const forgetting = { ...keeping, actions: others };
  expect(refused(planOf(dropped, { capabilities: forgetting }), {}, ["lossy"])).toMatch(
    /migrate up --accept irreversible, or /,
  );
});

test("a rollback that the file states changes nothing about what is lost", () => {
  const down = [addColumn("t", "f", float64(), { as: "0.5" })];
  expect(refused(planOf(dropped, { down }))).toMatch(/migrate up --accept lossy, or /);
  const again = [createTable("t", { a: int32(), f: float64() })];
  expect(refused(planOf([dropTable("t")], { down: again }), {}, ["lossy"])).toMatch(
    /migrate up --accept irreversible, or /,
  );
  expect(refused(planOf([dropTable("t")], { down: again }), { forbid: ["none"] }, ["irreversible"])).toMatch(
    /is forbidden on target prod, whose configuration allows no step of rollback class none: t is dropped/,
  );
});

test("what loses nothing needs none, nor what a migration made itself", () => {
  expect(
    refused(planOf([renameColumn("t", "f", "g"), addColumn("t", "n", utf8()), retypeColumn("t", "a", int64())])),
  ).toBe("");
  const own = [createTable("u", { a: int32(), f: float64() }), dropColumn("u", "a"), retypeColumn("u", "f", float32())];
  expect(refused(planOf(own))).toBe("");
});

test("what a configuration forbids nobody can accept", () => {
  const all: readonly Acceptance[] = ["lossy", "irreversible"];
  expect(refused(planOf([dropTable("t")]), { forbid: ["none"] }, all)).toMatch(
    /step 1 \(dropTable\) is forbidden on target prod, whose configuration allows no step of rollback class none: t is dropped/,
  );
  expect(refused(planOf(dropped), { forbid: ["none"] }, all)).toBe("");
  expect(refused(planOf(dropped), { forbid: ["restore"] }, all)).toMatch(
    /class restore: t.f is dropped with its values; use other steps/,
  );
  expect(refused(planOf([renameColumn("t", "f", "g")]), { forbid: ["exact"] })).toMatch(
    /class exact: rename t.f to g; use other steps/,
  );
});

test("what is between two of its commits goes on, and all else that is still to run is asked for", () => {
  const plan = planOf(dropped);
  const begun = (more: object): Plan => ({ ...plan, migrations: plan.migrations.map((one) => ({ ...one, ...more })) });
  const midway = { step: "", commit: 0, indexes: {}, metadata: {} };
  for (const more of [{ midway }, { direction: "down" }]) expect(refused(begun(more))).toBe("");
  for (const more of [{ done: 1 }, { inDoubt: true }]) expect(refused(begun(more))).toContain("needs consent");
  const after = planOf([...dropped, addColumn("t", "b", utf8()), dropColumn("t", "b")]).migrations[1]!;
  expect(refused({ ...plan, migrations: [{ ...after, midway }] })).toContain("step 3 (dropColumn) needs consent");
});

test.each([
  ["less than the limit", 90, 100, ""],
  ["more than the limit", 110, 100, "0002_drawn.ts, step 1 (retypeColumn) is forbidden on target prod"],
  ["an unknown number of bytes", null, 100, "how much it rewrites is unknown"],
])("a migration that rewrites %s", (_, bytes, maxRewriteBytes, words) => {
  const plan = planOf([retypeColumn("t", "a", int64())]);
  const costs = new Map(
    plan.migrations.flatMap(({ actions }, index) =>
      actions.map((action) => [action, { cost: { bytes: index === 0 ? 0 : bytes } }] as const),
    ),
  );
  const check = () => checkRefusals(withRefusals(plan, { maxRewriteBytes }, [], undefined, costs), "prod");
  if (words === "") check();
  else expect(check).toThrow(words);
});
