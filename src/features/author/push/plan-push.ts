/** Plans what leads from the current tables to the declared ones, without a migration. Changes nothing. */
import { MigrateError } from "../../../errors/migrate-error.ts";
import type { Acceptance } from "../../../migrations/acceptance.ts";
import { checksumOf } from "../../../migrations/checksum.ts";
import { formatMigration } from "../../../migrations/file-name.ts";
import { loadMigrations } from "../../../migrations/source.ts";
import { upRun } from "../../../plan/history/migration-run.ts";
import { replayHistory } from "../../../plan/history/replay.ts";
import { describeDifference, differencesOf } from "../../../plan/history/table-drift.ts";
import { planMigration, type Plan } from "../../../plan/make-plan.ts";
import type { Ledger } from "../../../run/lease/with-lease.ts";
import { readLedger, readCurrent } from "../../../run/prepare/consistent-read.ts";
import { describeForPlan } from "../../../run/prepare/describe-tables.ts";
import { requireApplied } from "../adopt/require-applied.ts";
import { runContext, type MigratorOptions, type RunContext } from "../../../run/run-context.ts";
import { withoutMetadata } from "../../../schema/metadata.ts";
import { waitsForValues } from "../../../schema/table-index.ts";
import { parsePath } from "../../../schema/path.ts";
import { countVectors } from "../../../targets/contract/count-vectors.ts";
import { databaseOf, findColumn, type Database, type Table } from "../../../schema/table.ts";
import { describeAction } from "../../../actions/apply-action.ts";
import { compileStep, type Step } from "../../../steps/registry.ts";
import type { Target } from "../../../targets/contract/target.ts";
import { isLedgers } from "../adopt/present-tables.ts";
import { tablesAfterSteps } from "../adopt/adopt-tables.ts";
import { diff, diffCapabilities, type Diff } from "../generate/diff-tables.ts";
import type { DiffAnswer } from "../generate/diff-columns.ts";
import { withAllRefusals } from "../../../commands/up-rules.ts";

export interface PushChoice {
  readonly declared: Database;
  readonly answers: readonly DiffAnswer[];
  readonly accept?: readonly Acceptance[] | undefined;
}

/** With steps that are certain even if others are not. */
export interface PushPlan extends Diff {
  /** Vector indexes that wait until their tables hold enough vectors, as text. */
  readonly later: readonly string[];
  /** With refusals; its only migration stands for the push. */
  readonly plan: Plan;
  /** Tables that neither the migrations nor the schema have. */
  readonly others: readonly string[];
  /** Why `baseline` would not mark what `generate` writes after this push, as text. */
  readonly unlike: readonly string[];
}

/** Throws ERR_PUSH_REFUSED. */
export async function planPush(options: MigratorOptions, choice: PushChoice): Promise<PushPlan> {
  const context = runContext(options);
  const read = () => readLedger(context, context.migrations.list());
  return await readCurrent(
    context,
    read,
    (ledger) => planPushOn(context, ledger, choice),
    () => false,
  );
}

/** The same for the ledger as it was read. */
export async function planPushOn(
  context: RunContext,
  { state }: Ledger,
  { declared, answers, accept }: PushChoice,
): Promise<PushPlan> {
  const { target, ledger } = context;
  const { capabilities } = target;
  if (!capabilities.describes)
    throw refused(`${target.name} can't describe its tables`, 'use the dialect "namespace" if the service has it');
  const known = await tablesOfMigrations(context, state);
  const asked = answers.map(({ table }) => table);
  const names = [...new Set([...known.keys(), ...declared.keys(), ...asked])];
  const found = databaseOf(await describeForPlan(target, names, new Set(names), true, context.signal));
  const others = (await target.listTables()).filter((name) => !names.includes(name) && !isLedgers(name, ledger));
  const given = { answers, ...diffCapabilities(capabilities) };
  // Column metadata is not compared.
  const plain = new Map<string, Table>();
  for (const [name, table] of found) plain.set(name, { ...table, columns: table.columns.map(withoutMetadata) });
  const made = await withoutEmptyIndexes(diff(plain, declared, given), found, target);
  if (made.unsure.length + made.impossible.length > 0)
    return { ...made, plan: { migrations: [], now: found }, others, unlike: [] };
  const after = new Map(found);
  const plan = planSteps(made.steps, found, after, context);
  const checked = await withAllRefusals(plan, context, { accept }, false);
  return { ...made, plan: checked, others, unlike: unlikeGenerated(known, after, declared, given) };
}

/** The tables that the migrations lead to, of which none may be pending. */
async function tablesOfMigrations(context: RunContext, state: Ledger["state"]): Promise<Database> {
  const { target, migrations: source } = context;
  const loaded = await loadMigrations(source, source.list());
  const migrations = await requireApplied(context, state, loaded, (pending) =>
    refused(
      `${formatMigration(pending)} is not applied on ${target.name}`,
      "run migrate up first; if migrate push has made its changes, migrate baseline marks it as applied",
    ),
  );
  return replayHistory(migrations, state, target.capabilities);
}

/** The plan of these steps as one migration that the ledger does not know. Updates `after`. */
function planSteps(steps: readonly Step[], now: Database, after: Map<string, Table>, context: RunContext): Plan {
  if (steps.length === 0) return { migrations: [], now };
  const { target, ledger } = context;
  const file = "the push";
  const migration = { version: 0, name: "push", file, path: "", textHash: "", steps, checksum: checksumOf(steps) };
  const state = { migrations: new Map() };
  const input = { state, inDoubt: new Set<number>(), target, ledger };
  return { migrations: [planMigration(upRun(migration, state, target.capabilities), after, input)], now };
}

/** Leaves indexes on too few values for later: no `up` would build them if they were deferred. */
async function withoutEmptyIndexes(
  made: Diff,
  found: Database,
  target: Target,
): Promise<Diff & Pick<PushPlan, "later">> {
  const waiting = new Set<Step>();
  for (const step of made.steps) {
    if (step.kind !== "createIndex" || !waitsForValues({ ...step.type, path: step.path })) continue;
    const { table, path, type } = step;
    const columns = found.get(table)?.columns ?? [];
    const column = findColumn(columns, parsePath(path));
    // A column that the push adds or renames has another name yet.
    const counted = column && (await countVectors(table, { path, ...type }, columns, target));
    if (column === undefined || (counted !== undefined && counted.vectors < counted.needed)) waiting.add(step);
  }
  const later = [...waiting].flatMap(compileStep).map(describeAction);
  return { ...made, steps: made.steps.filter((step) => !waiting.has(step)), later };
}

/** How the tables differ from those that `generate` will lead to, for example in the order of columns. */
function unlikeGenerated(
  known: Database,
  after: Database,
  declared: Database,
  options: Parameters<typeof diff>[2],
): readonly string[] {
  const { steps, unsure, impossible } = diff(known, declared, options);
  if (unsure.length + impossible.length > 0) return [];
  const generated = tablesAfterSteps(known, steps);
  return [...declared.keys()].flatMap((name) =>
    differencesOf(name, generated.get(name), after.get(name)).map(describeDifference),
  );
}

export function refused(problem: string, hint: string): MigrateError {
  return new MigrateError("ERR_PUSH_REFUSED", { problem, hint });
}
