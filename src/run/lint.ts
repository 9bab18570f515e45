/** Every migration checked as far as that goes without a database: names, steps, and whether each step can work. */
import { isMigrateError, type MigrateError, type StepPlace } from "../errors.ts";
import { foldLedger } from "../ledger/fold.ts";
import type { Migration } from "../migrations/load.ts";
import { makePlan, type Plan } from "../plan/plan.ts";
import type { MigratorOptions } from "./migrator.ts";

export interface LintResult {
  /** How many migration files there are. */
  readonly files: number;
  readonly problems: readonly MigrateError[];
  /** Undefined where there are problems. */
  readonly plan?: Plan;
  /** Steps that may change values without a word. */
  readonly losses: readonly { readonly place: StepPlace; readonly text: string }[];
}

/** All problems of single files; when there are none, the first step that can't work where it stands. `more`: after those. */
export async function lint(
  { migrations: source, target, ledger }: MigratorOptions,
  more: readonly Migration[] = [],
): Promise<LintResult> {
  const problems: MigrateError[] = [];
  const files = source.list((problem) => problems.push(problem));
  const migrations: Migration[] = [];
  for (const file of files) {
    const loaded = await caught(() => source.load(file));
    if (isMigrateError(loaded)) problems.push(loaded);
    else migrations.push(loaded);
  }
  if (problems.length > 0) return { files: files.length, problems, losses: [] };
  migrations.push(...more);
  const state = foldLedger([]);
  const plan = await caught(async () =>
    makePlan({ migrations, pending: migrations, state, doubtful: state.doubtful, target, ledger }),
  );
  if (isMigrateError(plan)) return { files: files.length, problems: [plan], losses: [] };
  const losses = plan.migrations
    .flatMap(({ actions }) => actions)
    .flatMap(({ place, risks }) => risks.filter(({ kind }) => kind === "loss").map(({ text }) => ({ place, text })));
  return { files: files.length, problems: [], plan, losses };
}

async function caught<Result>(work: () => Promise<Result>): Promise<Result | MigrateError> {
  try {
    return await work();
  } catch (error) {
    if (isMigrateError(error)) return error;
    throw error;
  }
}
