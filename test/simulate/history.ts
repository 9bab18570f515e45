/** Random migrations: every step kind, on a few tables, with steps that go back and forth. */
import { isMigrateError } from "../../src/errors.ts";
import { checksumOf, textHash } from "../../src/migrations/checksum.ts";
import { formatVersion } from "../../src/migrations/file-name.ts";
import type { Migration } from "../../src/migrations/load.ts";
import { actionsOf } from "../../src/plan/compile.ts";
import { tableAfter } from "../../src/schema/action.ts";
import { castVerdict } from "../../src/schema/cast.ts";
import type { Column, DataType } from "../../src/schema/data-type.ts";
import { formatPath, type Path } from "../../src/schema/path.ts";
import { columnPaths, findColumn, type Table } from "../../src/schema/table.ts";
import type { Chance } from "../../src/simulator/chance.ts";
import type { Step, StepName } from "../../src/steps/registry.ts";

const plain = (kind: "int32" | "int64" | "float32" | "float64" | "utf8" | "largeUtf8"): DataType => ({ kind });
const types: readonly DataType[] = [
  plain("int32"),
  plain("int64"),
  plain("float32"),
  plain("float64"),
  plain("utf8"),
  plain("largeUtf8"),
];
const column = (name: string, type: DataType, nullable: boolean): Column => ({ name, type, nullable });

type Database = Map<string, Table>;
type Draw<Name extends StepName> = (chance: Chance, database: Database) => Extract<Step, { kind: Name }>;

/** A step of each kind; it may turn out not to work. */
const draws: { readonly [Name in StepName]: Draw<Name> } = {
  createTable: (chance, database) => ({
    kind: "createTable",
    table: `t${database.size + 1}`,
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
    return { kind: "retypeColumn", table, path: formatPath(path), type: anotherType(chance, found.type) };
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
};

const kinds = Object.keys(draws) as readonly StepName[];

export function drawHistory(chance: Chance): readonly Migration[] {
  const database: Database = new Map();
  const count = chance.pick([1, 2, 2, 3, 3, 4, 6]);
  return Array.from({ length: count }, (_, index) => {
    const wanted = chance.pick([1, 1, 2, 3, 4, 6]);
    const steps: Step[] = [];
    while (steps.length < wanted) {
      const step = drawStep(chance, database);
      if (step !== undefined) steps.push(step);
    }
    return aMigration(index + 1, steps);
  });
}

export function aMigration(version: number, steps: readonly Step[]): Migration {
  const file = `${formatVersion(version)}_drawn.ts`;
  const checksum = checksumOf(steps);
  return { version, name: "drawn", file, path: file, textHash: textHash(checksum), steps, checksum };
}

/** A step that works, which then has; undefined for one that does not. */
function drawStep(chance: Chance, database: Database): Step | undefined {
  const isEarly = database.size === 0 || (database.size < 3 && chance.happens(0.1));
  const kind = isEarly ? "createTable" : chance.pick(kinds.filter((one) => one !== "createTable"));
  const step: Step = draws[kind](chance, database);
  const after = new Map(database);
  try {
    for (const action of actionsOf(step, { describes: true })) after.set(action.table, tableAfter(after, action));
  } catch (error) {
    if (!isMigrateError(error)) throw error;
    return undefined;
  }
  for (const [name, table] of after) database.set(name, table);
  return step;
}

function somewhere(chance: Chance, database: Database) {
  const table = chance.pick([...database.keys()]);
  const { columns } = database.get(table)!;
  const path = chance.pick(columnPaths(columns));
  return { table, path, column: findColumn(columns, path)! };
}

/** Few names, so that a column comes to have one that another one had. */
function aName(chance: Chance, path: Path): string {
  return chance.pick(
    (path.length === 1 ? ["a", "b", "c", "d", "s"] : ["x", "y", "z"]).filter((name) => name !== path.at(-1)),
  );
}

function anotherType(chance: Chance, type: DataType): DataType {
  return chance.pick(
    [type, ...types].filter((one) => one !== type && castVerdict(type, one).allowed).concat(plain("int32")),
  );
}

function sameParent(one: Path, other: Path): boolean {
  return formatPath(one.slice(0, -1)) === formatPath(other.slice(0, -1));
}
