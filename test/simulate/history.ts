/** Random migrations: every step kind, on a few tables, with steps that go back and forth. */
import { isMigrateError } from "../../src/errors/migrate-error.ts";
import { checksumOf, textHash } from "../../src/migrations/checksum.ts";
import { formatVersion } from "../../src/migrations/file-name.ts";
import type { Migration } from "../../src/migrations/load.ts";
import { planCommits } from "../../src/plan/commits/commits.ts";
import { actionsOf } from "../../src/plan/compile/compile.ts";
import type { Action } from "../../src/actions/model/action.ts";
import { kindsOf, tablesAfter, tablesOfAction, invert } from "../../src/actions/apply-action.ts";
import { castVerdict } from "../../src/schema/cast-rules.ts";
import type { Column, DataType } from "../../src/schema/data-type.ts";
import { formatPath, type Path } from "../../src/schema/path.ts";
import type { RowValue } from "../../src/schema/row-values.ts";
import { change, columnPaths, findColumn, type Table } from "../../src/schema/table.ts";
import { indexProblem } from "../../src/schema/table-index.ts";
import { chanceFor, type Chance } from "./seeded-random.ts";
import type { Scenario } from "./scenario.ts";
import { compileStep, type Step, type StepName } from "../../src/steps/registry.ts";
import { abilitiesOf } from "./target/memory-target.ts";
import { models, type Model } from "./target/carry.ts";
import type { Capabilities } from "../../src/targets/contract/target.ts";

const plain = (kind: "int32" | "int64" | "float32" | "float64" | "utf8" | "largeUtf8"): DataType => ({ kind });
const types: readonly DataType[] = [
  plain("int32"),
  plain("int64"),
  plain("float32"),
  plain("float64"),
  plain("utf8"),
  plain("largeUtf8"),
];
const names = ["a", "b", "c", "d", "s"];
const tableNames = ["t1", "t2", "t3", "t4"];
const indexNames = ["i", "j"];
const column = (name: string, type: DataType, nullable: boolean): Column => ({ name, type, nullable });

type Database = Map<string, Table>;
type Draw<Name extends StepName> = (chance: Chance, database: Database) => Extract<Step, { kind: Name }> | undefined;

/** A step of each kind; it may turn out not to work, and there may be none. */
const draws: { readonly [Name in StepName]: Draw<Name> } = {
  createTable: (chance, database) => ({
    kind: "createTable",
    table: chance.pick(tableNames.filter((name) => !database.has(name))),
    columns: [
      ...["a", "b", "c"]
        .slice(0, 1 + chance.below(3))
        .map((name) => column(name, chance.pick(types), chance.happens(0.7))),
      ...(chance.happens(0.4)
        ? [
            column(
              "s",
              { kind: "struct", fields: ["x", "y"].map((name) => column(name, chance.pick(types), true)) },
              true,
            ),
          ]
        : []),
    ],
  }),
  renameColumn: (chance, database) => {
    const { table, path } = somewhere(chance, database);
    return { kind: "renameColumn", table, path: formatPath(path), name: aName(chance, path) };
  },
  retypeColumn: (chance, database) => {
    const { table, path, column: found } = somewhere(chance, database);
    const using = path.length === 1 && chance.happens(0.3) ? { using: "0", type: chance.pick(types) } : {};
    return { kind: "retypeColumn", table, path: formatPath(path), type: anotherType(chance, found.type), ...using };
  },
  setNullable: (chance, database) => {
    const { table, path, column: found } = somewhere(chance, database);
    return { kind: "setNullable", table, path: formatPath(path), nullable: !found.nullable };
  },
  alterColumns: (chance, database) => {
    const { table, path } = somewhere(chance, database);
    const paths = columnPaths(database.get(table)!.columns).filter((one) => one.length === path.length);
    const other = chance.pick(paths);
    const found = findColumn(database.get(table)!.columns, path)!;
    // A swap, or several things about one column, or about two.
    if (other !== path && chance.happens(0.6) && sameParent(path, other))
      return {
        kind: "alterColumns",
        table,
        alterations: [
          { path: formatPath(path), rename: other.at(-1)! },
          { path: formatPath(other), rename: path.at(-1)! },
        ],
      };
    const rename = chance.happens(0.6) ? aName(chance, path) : undefined;
    const type = chance.happens(0.5) ? anotherType(chance, found.type) : undefined;
    const nullable = chance.happens(0.5) || (rename === undefined && type === undefined) ? !found.nullable : undefined;
    return { kind: "alterColumns", table, alterations: [{ path: formatPath(path), rename, type, nullable }] };
  },
  addColumn: (chance, database) => {
    const table = aTable(chance, database);
    const struct = database.get(table)!.columns.find(({ type }) => type.kind === "struct");
    if (struct !== undefined && chance.happens(0.5)) {
      const name = formatPath([struct.name, chance.pick(names)]);
      return { kind: "addColumn", table, name, type: chance.pick(types), nullable: true };
    }
    const nullable = chance.happens(0.5);
    // A literal would need one commit only.
    const as = !nullable ? { as: "0 + 0" } : chance.happens(0.3) ? { as: "0" } : {};
    return { kind: "addColumn", table, name: chance.pick(names), type: chance.pick(types), nullable, ...as };
  },
  addComputedColumn: (chance, database) => {
    const table = aTable(chance, database);
    const computed = database.get(table)!.columns[0]!.name;
    return { kind: "addComputedColumn", table, name: chance.pick(names), type: chance.pick(types), computed };
  },
  refreshColumn: (chance, database) => {
    const there = [...database].flatMap(([table, { columns }]) =>
      columns.flatMap(({ name, computed }) => (computed === undefined ? [] : [{ table, path: name }])),
    );
    return there.length === 0 ? undefined : { kind: "refreshColumn", ...chance.pick(there) };
  },
  optimizeTable: (chance, database) => ({ kind: "optimizeTable", table: aTable(chance, database) }),
  // The simulated target has no rows that code could compute.
  backfillColumn: () => undefined,
  populateTable: () => undefined,
  reembedColumn: () => undefined,
  dropColumn: (chance, database) => {
    const { table, path } = somewhere(chance, database);
    return { kind: "dropColumn", table, path: formatPath(path) };
  },
  dropTable: (chance, database) => ({ kind: "dropTable", table: aTable(chance, database) }),
  renameTable: (chance, database) => ({
    kind: "renameTable",
    table: aTable(chance, database),
    name: chance.pick(tableNames),
  }),
  createIndex: (chance, database) => {
    const { table, path, column: found } = somewhere(chance, database);
    const fitting = (["btree", "bitmap", "fts"] as const).filter(
      (kind) => indexProblem({ kind, options: {} }, found.type) === undefined,
    );
    const type = { kind: chance.pick(["btree", ...fitting] as const), options: {} };
    return { kind: "createIndex", table, path: formatPath(path), type, name: chance.pick(indexNames) };
  },
  dropIndex: (chance, database) => {
    const there = [...database].flatMap(([table, { indexes = {} }]) =>
      Object.keys(indexes).flatMap((name) => (indexes[name] === null ? [] : [{ table, name }])),
    );
    return there.length === 0 ? undefined : { kind: "dropIndex", ...chance.pick(there) };
  },
  rebuildIndex: (chance, database) => {
    const there = [...database].flatMap(([table, { indexes = {} }]) =>
      Object.keys(indexes).flatMap((name) => (indexes[name] === null ? [] : [{ table, name }])),
    );
    return there.length === 0 ? undefined : { kind: "rebuildIndex", ...chance.pick(there) };
  },
  setMetadata: (chance, database) => {
    const { table, path } = somewhere(chance, database);
    const metadata = { [chance.pick(["k", "l"])]: chance.pick(["1", "2", "3", null]) };
    return { kind: "setMetadata", table, path: formatPath(path), metadata };
  },
  insertRows: (chance, database) => {
    const table = aTable(chance, database);
    const { columns } = database.get(table)!;
    const rows = [Object.fromEntries(columns.map(({ name, type }) => [name, aValue(type, chance)]))];
    return { kind: "insertRows", table, rows, key: columns[0]!.name };
  },
  execute: (chance, database) => {
    const { table, path } = somewhere(chance, database);
    const where = `${formatPath(path)} = ${chance.below(3)}`;
    const update = { [formatPath(path)]: String(chance.below(3)) };
    return { kind: "execute", table, change: chance.happens(0.5) ? { delete: where } : { update, where } };
  },
};

const kinds = (Object.keys(draws) as readonly StepName[]).filter(
  (kind) => kind !== "backfillColumn" && kind !== "populateTable" && kind !== "reembedColumn",
);

/** `isReversible`: of steps that can be rolled back. */
export function drawHistory(chance: Chance, model: Model, isReversible = false): readonly Migration[] {
  const database: Database = new Map();
  const count = chance.pick([1, 2, 2, 3, 3, 4, 6]);
  return Array.from({ length: count }, (_, index) => {
    const wanted = chance.pick([1, 1, 2, 3, 4, 6]);
    const steps: Step[] = [];
    while (steps.length < wanted) {
      const step = drawStep(chance, database, model, isReversible);
      if (step !== undefined) steps.push(step);
    }
    return aMigration(index + 1, steps);
  });
}

/** A model of a target, and migrations that run on it. */
export function drawScenario(chance: Chance, seed: number): Scenario {
  const model = chance.pick(models);
  const isRandom = model === "service" || chance.happens(0.4);
  const drawn = () => ({ migrations: drawHistory(chance, model, chance.happens(0.5)) });
  const usual = isRandom ? drawn() : chance.pick(written);
  // From numbers of its own, so that the other schedules go as they would without it.
  const isWriting = model !== "service" && chanceFor("writings", seed).happens(0.1);
  return { model, ...(isWriting ? writings : usual) };
}

function canBeTakenBack(action: Action, before: Database, { actions }: Capabilities): boolean {
  const way = invert(action, before);
  // A table that is made in a service without drops stays; what comes after it goes back.
  if (action.kind === "createTable") return true;
  return !("lost" in way) && way.actions.every((one) => kindsOf(one).every((kind) => actions[kind] === true));
}

/** Actions that take several commits and keep several things at once, which random ones seldom do. */
const keeping = (
  [
    [
      {
        kind: "createTable",
        table: "t",
        columns: [
          column("a", plain("int32"), true),
          column("b", plain("int32"), false),
          column("c", plain("utf8"), true),
        ],
      },
      { kind: "createIndex", table: "t", path: "a", type: { kind: "btree", options: {} }, name: "i" },
      { kind: "createIndex", table: "t", path: "a", type: { kind: "bitmap", options: {} }, name: "j" },
      { kind: "setMetadata", table: "t", path: "a", metadata: { k: "1" } },
      { kind: "setMetadata", table: "t", path: "c", metadata: { k: "1" } },
    ],
    [{ kind: "retypeColumn", table: "t", path: "a", type: plain("int64") }],
    [{ kind: "retypeColumn", table: "t", path: "c", type: plain("utf8"), using: "upper(c)" }],
    [{ kind: "addColumn", table: "t", name: "d", type: plain("int64"), nullable: false, as: "b" }],
    [{ kind: "retypeColumn", table: "t", path: "b", type: plain("int32"), using: "b + 1" }],
  ] satisfies readonly (readonly Step[])[]
).map((steps, index) => aMigration(index + 1, steps));

export const severalCommits: Omit<Scenario, "model"> = {
  migrations: keeping,
  beside: {
    after: 1,
    actions: [
      { kind: "createIndex", table: "t", name: "theirs", index: { path: "a", kind: "btree", options: {} } },
      { kind: "setMetadata", table: "t", updates: [{ path: "b", metadata: { theirs: "1" } }] },
    ],
  },
};

const swap: Step = {
  kind: "alterColumns",
  table: "t",
  alterations: [
    { path: "a", rename: "b" },
    { path: "b", rename: "a" },
  ],
};

/** What is done twice is as if it had never been done. */
const swaps: Omit<Scenario, "model"> = {
  migrations: [
    [
      {
        kind: "createTable" as const,
        table: "t",
        columns: ["a", "b"].map((name) => column(name, plain("int32"), name === "a")),
      },
    ],
    [swap],
    [swap, swap, swap],
    [swap, swap],
    [swap],
  ].map((steps, index) => aMigration(index + 1, steps)),
};

const double: Step = { kind: "retypeColumn", table: "t", path: "b", type: plain("int32"), using: "b * 2" };

/** The last column is recreated as it was, so that a look could not tell how far that got: done twice, it is four times as much. */
const doublings: Omit<Scenario, "model"> = {
  migrations: [
    [
      {
        kind: "createTable" as const,
        table: "t",
        columns: ["a", "b"].map((name) => column(name, plain("int32"), true)),
      },
    ],
    [double],
    [double, double],
    [double],
  ].map((steps, index) => aMigration(index + 1, steps)),
};

/** Each writes rows and loses a column. To roll several back, a run needs versions that were kept for others of them. */
const writings: Omit<Scenario, "model"> = {
  migrations: (
    [
      [
        {
          kind: "createTable",
          table: "t",
          columns: ["a", "b", "c", "d"].map((name) => column(name, plain("int32"), name !== "a")),
        },
      ],
      [
        { kind: "insertRows", table: "t", rows: [{ a: 1, b: 1, c: 1, d: 1 }], key: "a" },
        { kind: "dropColumn", table: "t", path: "d" },
      ],
      [
        { kind: "execute", table: "t", change: { update: { b: "c" }, where: "a = 1" } },
        { kind: "dropColumn", table: "t", path: "c" },
      ],
      [{ kind: "dropColumn", table: "t", path: "b" }],
    ] satisfies readonly (readonly Step[])[]
  ).map((steps, index) => aMigration(index + 1, steps)),
};

// What comes late to a swap, and who is stopped twice in one action, are the rarest of what must be found.
const written = [severalCommits, severalCommits, severalCommits, swaps, swaps, swaps, swaps, doublings, doublings];

export function aMigration(version: number, steps: readonly Step[]): Migration {
  const file = `${formatVersion(version)}_drawn.ts`;
  const checksum = checksumOf(steps);
  return { version, name: "drawn", file, path: file, textHash: textHash(checksum), steps, checksum };
}

/** A step that works, which then has; undefined for one that does not. */
function drawStep(chance: Chance, database: Database, model: Model, isReversible: boolean): Step | undefined {
  const isEarly = database.size === 0 || (database.size < 3 && chance.happens(0.1));
  const kind = isEarly ? "createTable" : chance.pick(kinds.filter((one) => one !== "createTable"));
  const step: Step | undefined = draws[kind](chance, database);
  if (step === undefined) return undefined;
  const abilities = abilitiesOf(model);
  if (compileStep(step).some((action) => kindsOf(action).some((needed) => abilities.actions[needed] !== true)))
    return undefined;
  const after = new Map(database);
  try {
    for (const action of actionsOf(step, abilities)) {
      const before = new Map(tablesOfAction(action).map((name) => [name, after.get(name)]));
      planCommits(action, before, abilities);
      if (isReversible && !canBeTakenBack(action, after, abilities)) return undefined;
      change(after, tablesAfter(after, action));
    }
  } catch (error) {
    if (!isMigrateError(error)) throw error;
    return undefined;
  }
  database.clear();
  for (const [name, table] of after) database.set(name, table);
  return step;
}

function aTable(chance: Chance, database: Database): string {
  return chance.pick([...database.keys()]);
}

function somewhere(chance: Chance, database: Database) {
  const table = aTable(chance, database);
  const { columns } = database.get(table)!;
  const path = chance.pick(columnPaths(columns));
  return { table, path, column: findColumn(columns, path)! };
}

/** Few names, so that a column comes to have one that another one had. */
function aName(chance: Chance, path: Path): string {
  return chance.pick((path.length === 1 ? names : ["x", "y", "z"]).filter((name) => name !== path.at(-1)));
}

function anotherType(chance: Chance, type: DataType): DataType {
  return chance.pick(
    [type, ...types].filter((one) => one !== type && castVerdict(type, one).allowed).concat(plain("int32")),
  );
}

function aValue(type: DataType, chance: Chance): RowValue {
  if (type.kind === "struct")
    return Object.fromEntries(type.fields.map(({ name, type }) => [name, aValue(type, chance)]));
  return type.kind === "utf8" || type.kind === "largeUtf8" ? String(chance.below(3)) : chance.below(3);
}

function sameParent(one: Path, other: Path): boolean {
  return formatPath(one.slice(0, -1)) === formatPath(other.slice(0, -1));
}
