/** Errors about steps that can't work. */
import { at, refused, someOf, type StepPlace } from "./entry.ts";

export const stepsErrors = {
  ERR_TABLE_MISSING: refused(
    (d: { table: string; similar?: string | undefined }) =>
      `no migration before this creates a table ${d.table}${d.similar === undefined ? "" : `; did you mean ${d.similar}?`}`,
  ),
  ERR_TABLE_EXISTS: refused((d: { table: string }) => `table ${d.table} exists already at this point`),
  ERR_TABLE_NAME: refused(
    (d: { table: string; problem: string }) => `table name ${JSON.stringify(d.table)} ${d.problem}`,
  ),
  ERR_COLUMN_NAME: refused(
    (d: { name: string; problem: string }) => `column name ${JSON.stringify(d.name)} ${d.problem}`,
  ),
  ERR_COLUMN_MISSING: refused(
    (d: { table: string; path: string; has: readonly string[]; similar?: string | undefined }) =>
      `${d.table} has no column ${d.path} at this point; ${d.similar === undefined ? `it has ${someOf(d.has) || "none inside"}` : `did you mean ${d.similar}?`}`,
  ),
  ERR_COLUMN_DUPLICATE: refused((d: { table: string; name: string; other: string }) =>
    d.name === d.other
      ? `${d.table} would have two columns named ${d.name}`
      : `${d.table} would have ${d.other} and ${d.name}, which differ only in case`,
  ),
  ERR_PATH_INVALID: refused(
    (d: { path: string; problem: string }) => `column path ${JSON.stringify(d.path)} ${d.problem}`,
  ),
  ERR_CAST_REFUSED: refused(
    (d: { column: string; from: string; to: string; hint: string }) =>
      `the engine can't cast ${d.column} from ${d.from} to ${d.to}; ${d.hint}`,
  ),
  ERR_ALTERATION_CONFLICT: refused((d: { table: string; problem: string }) => `${d.table}: ${d.problem}`),
  ERR_INDEX: refused(
    (d: { table: string; name: string; problem: string }) => `index ${d.name} of ${d.table} ${d.problem}`,
  ),
  ERR_ROWS: refused((d: { table: string; problem: string }) => `rows of ${d.table}: ${d.problem}`),
  ERR_NO_EFFECT: refused((d: { problem: string }) => `${d.problem}; remove the step`),
  ERR_STEP_IMPOSSIBLE: refused((d: StepPlace & { problem: string }) => `${at(d)}: ${d.problem}`),
  ERR_STEP_WOULD_FAIL: refused((d: StepPlace & { problem: string }) => `${at(d)} would fail: ${d.problem}`),
  ERR_TARGET_UNFIT: refused(
    (d: { what: string; problem: string }) =>
      `${d.what} does not do what a run relies on: ${d.problem}; no migration has run; its operator must change that (docs/rest.md), and migrate doctor checks it`,
  ),
  ERR_UNSUPPORTED: refused(
    (d: StepPlace & { target: string; reason: string }) => `${at(d)}: target ${d.target} can't do this: ${d.reason}`,
  ),
} as const;
