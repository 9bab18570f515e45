/** Random migrations whose effect on every row can be foretold. The steps are those of test/sequences. */
import { isMigrateError } from "../../src/errors/migrate-error.ts";
import type { Migration } from "../../src/migrations/load.ts";
import type { Action } from "../../src/actions/model/action.ts";
import { isInteger, type Column, type DataType } from "../../src/schema/data-type.ts";
import type { RowValue, RowValues } from "../../src/schema/row-values.ts";
import type { Chance } from "../simulate/seeded-random.ts";
import { compileStep, parseStep, type Step } from "../../src/steps/registry.ts";
import { drafts, stepOf } from "../sequences/draw.ts";
import { canHold, valueOf } from "../sequences/values.ts";
import { aMigration } from "../simulate/history.ts";
import * as fc from "../support/fast-check.ts";
import { effectOf } from "./effects.ts";
import { worldAfter, type Shape, type World } from "./shapes.ts";

/** The key of a table has one of these names, and no other column ever has. */
export const keyNames = ["id", "key", "pk"];

export function keyOf({ table }: Pick<Shape, "table">): string {
  return keyIn(table.columns);
}

export function keyIn(columns: readonly Column[]): string {
  return columns.find(({ name }) => keyNames.includes(name))!.name;
}

const plain = (kind: "int32" | "utf8" | "float32" | "float16" | "float64"): DataType => ({ kind });
const item = (type: DataType): Column => ({ name: "item", type, nullable: true });
const field = (name: string, type: DataType): Column => ({ name, type, nullable: true });

const types: readonly DataType[] = [
  ...(["int8", "int16", "int32", "int64", "uint16", "float32", "float64", "float64"] as const).map((kind) => ({
    kind,
  })),
  ...(["utf8", "utf8", "largeUtf8", "bool", "binary", "date32"] as const).map((kind) => ({ kind })),
  { kind: "timestamp", unit: "ms" },
  { kind: "fixedSizeList", item: item(plain("float32")), length: 4 },
  { kind: "fixedSizeList", item: item(plain("float16")), length: 4 },
  { kind: "list", item: item(plain("int32")) },
  { kind: "struct", fields: [field("x", plain("int32")), field("y", plain("utf8")), field("z", plain("float64"))] },
];
const tableNames = ["t", "u", "v"];
const columnNames = ["a", "b", "c", "d", "e"];

/** A table with a key and other columns. */
export function tableStep(chance: Chance, table: string): Step {
  const count = 2 + chance.below(4);
  const others = columnNames
    .slice(0, count)
    .map((name) => ({ name, type: chance.pick(types), nullable: chance.happens(0.75) }));
  const columns: Column[] = [{ name: "id", type: { kind: "int64" }, nullable: false }, ...others];
  const hasRows = columns.every(({ type }) => canHold(type)) && chance.happens(0.5);
  const rows = hasRows ? { rows: rowsOf(chance, columns, "id", 2) } : {};
  return { kind: "createTable", table, columns, ...rows };
}

/** The engine makes upserts of rows that it covers in place. */
export function indexStep(table: string): Step {
  return { kind: "createIndex", table, path: "id", type: { kind: "btree", options: {} }, name: "by_key" };
}

/** Rows of a migration have keys below zero, and those of the application above. */
function rowsOf(chance: Chance, columns: readonly Column[], key: string, most: number): readonly RowValues[] {
  const count = 1 + chance.below(most);
  const first = -1 - chance.below(1_000_000);
  return Array.from({ length: count }, (_, index) =>
    Object.fromEntries(
      columns.map(({ name, type, nullable }) => {
        if (name === key) return [name, first - index] as const;
        if (!canHold(type) || (nullable && chance.happens(0.3))) return [name, null] as const;
        return [name, sample(valueOf(type), chance)] as const;
      }),
    ),
  );
}

function sample(arbitrary: fc.Arbitrary<RowValue>, chance: Chance): RowValue {
  return fc.sample(arbitrary, { numRuns: 1, seed: chance.below(2 ** 30) })[0]!;
}

export interface Drawn {
  readonly migration: Migration;
  readonly after: World;
}

/** A migration of up to three steps that the model takes; undefined where none was found. */
export function drawMigration(chance: Chance, world: World, version: number, able: Able): Drawn | undefined {
  const wanted = 1 + chance.below(3);
  const steps: Step[] = [];
  let after = world;
  for (let tries = 0; tries < 12 && steps.length < wanted; tries++)
    for (const draft of fc.sample(drafts, { numRuns: 1, seed: chance.below(2 ** 30) })[0]!) {
      if (steps.length === wanted) break;
      const database = new Map([...after].map(([name, { table }]) => [name, table]));
      const step = fitting(stepOf(draft, database), chance, after);
      const next = step && possible(step, after, able);
      if (next === undefined) continue;
      steps.push(step!);
      after = next;
    }
  return steps.length === 0 ? undefined : { migration: aMigration(version, steps), after };
}

export type Able = (action: Action) => boolean;

/** The tables after a step; undefined where it can't work, or nobody could foretell what it does. */
export function possible(step: Step, world: World, able: Able): World | undefined {
  const parsed = parseStep(JSON.parse(JSON.stringify(step)));
  if (!("step" in parsed)) return undefined;
  try {
    let after = world;
    for (const action of compileStep(parsed.step)) {
      const before = after;
      after = worldAfter(before, action);
      if (!able(action) || effectOf(action, "", before, after, keyOf) === undefined) return undefined;
    }
    return after;
  } catch (error) {
    if (!isMigrateError(error)) throw error;
    return undefined;
  }
}

/** The step as it fits these tables: each keeps its key, and the types are known. */
function fitting(step: Step, chance: Chance, world: World): Step | undefined {
  if (step.kind === "createTable") {
    const name = tableNames.find((one) => !world.has(one));
    if (name === undefined || world.size > 1) return undefined;
    return tableStep(chance, name);
  }
  const shape = world.get(step.table);
  if (shape === undefined) return undefined;
  const key = keyOf(shape);
  switch (step.kind) {
    case "dropTable":
      return chance.happens(0.15) ? step : undefined;
    case "renameColumn":
      return step.path === key ? { ...step, name: chance.pick(keyNames.filter((name) => name !== key)) } : step;
    case "insertRows":
      return { ...step, rows: rowsOf(chance, shape.table.columns, key, 3), key };
    case "retypeColumn": {
      const { path, type, using } = step;
      if (path !== key) return step;
      return using === undefined && isInteger(type) && /32|64/.test(type.kind) ? step : undefined;
    }
    case "alterColumns":
      return step.alterations.some(({ path, rename = "" }) => path === key || keyNames.includes(rename))
        ? undefined
        : step;
    case "setNullable":
    case "dropColumn":
      return step.path === key ? undefined : step;
    case "execute":
      return "update" in step.change && key in step.change.update ? undefined : step;
    case "createIndex":
      // Vector indexes need more rows than a history has.
      return /^(ivf|hnsw)/.test(step.type.kind) ? undefined : step;
    default:
      return step;
  }
}
