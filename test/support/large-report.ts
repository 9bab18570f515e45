/** A report with the given numbers of migrations and tables. Each table has 12 columns, which the migrations change. */
import type { ReportDocument } from "../../src/features/report/report-document.ts";
import type { ColumnEvent, ColumnLife } from "../../src/features/report/columns/column-lives.ts";

const hour = 3_600_000;

export function largeReport(migrations: number, tables: number): ReportDocument {
  const versions = Array.from({ length: migrations }, (_, index) => index + 1);
  const at = (version: number) => new Date(Date.UTC(2024, 0) + version * 16 * hour).toISOString();
  const by = (version: number) => `${["ann@laptop", "ci@runner"][version % 2]!} (process ${version})`;
  return {
    format: 1,
    target: "large",
    madeAt: at(migrations + 1),
    tool: "lance-migrate",
    migrations: versions.map((version) => ({
      version,
      name: `change_${version}`,
      status: "applied",
      at: at(version),
      by: by(version),
      run: `run-${version}`,
      duration: version,
      actions: [`rename table_${version % tables}.a to b`, `add table_${version % tables}.c int64`],
      rollback: { class: "exact", text: "drop the column" },
      risks: [],
    })),
    runs: versions.toReversed().map((version) => ({
      run: `run-${version}`,
      by: by(version),
      tool: "lance-migrate",
      began: at(version),
      ended: at(version),
      milliseconds: version,
      outcome: "applied",
      events: [{ at: at(version), event: "applied", version, name: `change_${version}` }],
    })),
    tables: Array.from({ length: tables }, (_, table) => ({
      name: `table_${table}`,
      created: table + 1,
      columns: Array.from({ length: 12 }, (_, column) => aLife(`table_${table}`, column, table + 1, migrations)),
    })),
    drift: { checked: true, columns: true, differences: [] },
    preparing: [],
    kept: [],
    doubts: [],
    deferred: [],
    problems: [],
  };
}

function aLife(table: string, column: number, first: number, last: number): ColumnLife {
  const event = (place: number, one: Omit<ColumnEvent, "version" | "step" | "table">): ColumnEvent => ({
    version: Math.round(first + ((last - first) * (place * 12 + column)) / 60),
    step: 1,
    table,
    ...one,
  });
  const [path, renamed] = [`column_${column}`, `renamed_${column}`];
  return {
    names: [`${table}.${path}`, `${table}.${renamed}`],
    events: [
      event(0, { change: "created", path, after: "int32" }),
      event(1, { change: "renamed", path: renamed, before: path, after: renamed }),
      event(2, { change: "retyped", path: renamed, before: "int32", after: "int64" }),
      event(3, { change: "nullability", path: renamed, before: "int64", after: "int64 not null" }),
    ],
    now: { table, path: renamed, type: "int64 not null" },
  };
}
