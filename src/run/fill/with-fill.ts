/** Gives a target the action `fillColumn`, which consists of many of its calls and of calls of the project's code. */
import { isMigrateError, MigrateError } from "../../errors/migrate-error.ts";
import type { Action, ActionFor } from "../../actions/model/action.ts";
import type { Lease } from "../../ledger/lease/lease.ts";
import type { Table } from "../../schema/table.ts";
import type { RowAccess } from "../../targets/contract/row-access.ts";
import type { TableSnapshot, Target } from "../../targets/contract/target.ts";
import type { Filled } from "./fill-column.ts";
import { FillFailed } from "./fill-failed.ts";
import { stagingName, stagingsOf } from "./staging-name.ts";
import type { Clock } from "../../time/clock.ts";
import type { RunContext } from "../run-context.ts";

interface Project extends Pick<RunContext, "clock" | "emit" | "folder" | "ledger" | "runsCode" | "signal"> {
  readonly lease: Pick<Lease, "check" | "isSure">;
}

export function withFill(target: Target, project: Project): Target {
  const { rows } = target;
  if (rows === undefined) return target;
  const commits = new WeakMap<Action, number>();
  return {
    ...target,
    async execute(action: Action, seen: TableSnapshot | undefined) {
      if (action.kind !== "fillColumn") return await target.execute(action, seen);
      if (seen === undefined) throw new Error(`there is no table ${action.table}`);
      const { table, path } = action;
      const { problems, merges } = await fill(action, seen.table, { ...target, rows }, project);
      commits.set(action, merges);
      const [problem] = problems;
      if (problem !== undefined) project.emit({ event: "notComputed", table, path, rows: problems.length, problem });
      return undefined;
    },
    commitsOf: (action) => commits.get(action),
    verdict: (error) => (isOurs(error) ? { kind: "refused" } : target.verdict(error)),
    explain: (error) => (isOurs(error) ? error.message : target.explain(error)),
  };
}

async function fill(
  action: ActionFor<"fillColumn">,
  before: Table,
  { rows, listTables }: Pick<Target, "listTables"> & { readonly rows: RowAccess },
  project: Project,
): Promise<Filled> {
  const { folder = process.cwd(), runsCode = true, clock, signal, lease, ledger, emit } = project;
  const { table, path } = action;
  const [{ openCode, noCode }, { fillColumn }] = await Promise.all([
    import("./call-code.ts"),
    import("./fill-column.ts"),
  ]);
  const code = runsCode ? await openCode(action, { folder, clock, signal }) : noCode;
  try {
    return await fillColumn(action, before, {
      rows,
      compute: code.compute,
      staging: stagingName(ledger, action),
      staged: stagingsOf(await listTables(), ledger, action),
      mayWrite: async () => {
        if (!lease.isSure()) await lease.check();
      },
      progress: seldom(clock, (computed) => emit({ event: "computed", table, path, rows: computed })),
    });
  } catch (cause) {
    if (signal?.aborted !== true) throw cause;
    throw new MigrateError("ERR_INTERRUPTED", {
      done: `${table}.${path} is computed in part; run migrate up to continue`,
    });
  } finally {
    await code.close();
  }
}

/** Passes a number on at most once a second. */
function seldom(clock: Clock, emit: (number: number) => void): (number: number) => void {
  let next = 0;
  return (number) => {
    if (clock.steady() < next) return;
    next = clock.steady() + 1_000;
    emit(number);
  };
}

/** Whether the run may end because of an error, and resume later: what was computed is kept. */
function isOurs(error: unknown): error is Error {
  return error instanceof FillFailed || isMigrateError(error, "ERR_INTERRUPTED");
}
