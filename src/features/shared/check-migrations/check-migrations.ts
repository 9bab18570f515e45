/** Checks all migrations without a database: names, steps, and whether each step can work. */
import { basename } from "node:path";
import { isMigrateError, type MigrateError, type StepPlace } from "../../../errors/migrate-error.ts";
import { foldLedger } from "../../../ledger/state/fold.ts";
import { readTextIfPresent, type MigrationFile } from "../../../migrations/list-files.ts";
import type { Migration } from "../../../migrations/load.ts";
import { afterProblems } from "../check-after.ts";
import { wordsInStep, type Doubt } from "./follow-up-errors.ts";
import { planWhatWorks, type PlacedDoubt, type Read, type Sound } from "./plan-what-works.ts";
import type { MigratorOptions } from "../../../run/run-context.ts";

export interface CheckedMigrations {
  /** How many migration files there are. */
  readonly files: number;
  /** All problems of files and steps, steps that can't work included, but for those that only follow from others. */
  readonly problems: readonly MigrateError[];
  /** Whether every file and step can work, so that the tables after them are known. */
  readonly isSound: boolean;
  /** What actions may lose; empty if there are problems. */
  readonly losses: readonly { readonly place: StepPlace; readonly text: string }[];
  /** Everything that can work, even if there are problems. */
  readonly sound: Sound;
  readonly read: readonly ReadFile[];
  /** The paths of all files by their names, including files that are no migrations. */
  readonly paths: ReadonlyMap<string, string>;
}

export interface ReadFile {
  readonly file: MigrationFile;
  readonly migration: Migration;
  /** What is wrong in the file. `value`: the invalid step as the file exports it. */
  readonly wrong: readonly { readonly problem: MigrateError; readonly value: unknown }[];
}

/** `recordsCalls`: records calls, to find positions of steps afterwards. */
export async function checkMigrations(
  options: MigratorOptions,
  { recordsCalls = false }: { readonly recordsCalls?: boolean } = {},
): Promise<CheckedMigrations> {
  const { migrations: source } = options;
  const problems: MigrateError[] = [];
  const unlisted: Doubt[] = [];
  const paths = new Map<string, string>();
  const files = source.list((problem, path) => {
    problems.push(problem);
    if (path === undefined) return;
    unlisted.push({ text: namingText(path) });
    paths.set(basename(path), path);
  });
  const read: ReadFile[] = [];
  const migrations: Read[] = [];
  for (const file of files) {
    paths.set(file.file, file.path);
    const one = await readOne(options, file, recordsCalls);
    problems.push(...one.wrong.map(({ problem }) => problem));
    read.push(one);
    migrations.push({ migration: one.migration, doubts: one.wrong.map((wrong) => doubtOf(one, wrong)) });
  }
  problems.push(...afterProblems(read.map(({ migration }) => migration)));
  const sound = planWhatWorks(migrations, planningInput(options), (problem) => problems.push(problem), unlisted);
  const losses = sound.migrations
    .flatMap(({ actions }) => actions)
    .flatMap(({ place, risks }) => risks.filter(({ kind }) => kind === "loss").map(({ text }) => ({ place, text })));
  const isSound = problems.length === 0;
  return { files: files.length, problems, isSound, losses: isSound ? losses : [], sound, read, paths };
}

/** What a plan is made with that needs no database. */
export function planningInput({ target, ledger }: Pick<MigratorOptions, "target" | "ledger">) {
  const state = foldLedger([]);
  return { state, inDoubt: state.inDoubt, target, ledger };
}

async function readOne(
  { migrations: source }: MigratorOptions,
  file: MigrationFile,
  recordsCalls: boolean,
): Promise<ReadFile> {
  const wrong: { problem: MigrateError; value: unknown }[] = [];
  const refuse = (problem: MigrateError, value?: unknown) => void wrong.push({ problem, value });
  try {
    const migration = await source.load(file, { refuse, recordsCalls });
    if (recordsCalls) await source.checkSameAgain?.([migration]);
    return { file, migration, wrong };
  } catch (error) {
    if (!isMigrateError(error)) throw error;
    refuse(error);
    return { file, migration: { ...file, steps: [], checksum: "" }, wrong };
  }
}

/** The doubt that follows from something wrong in a file. */
function doubtOf({ file, migration }: ReadFile, { problem, value }: ReadFile["wrong"][number]): PlacedDoubt {
  if (!isMigrateError(problem, "ERR_STEP_INVALID"))
    return { step: 0, text: migration.steps.length === 0 ? namingText(file.path) : "" };
  const { step, of } = problem.details;
  return of === undefined ? { step, text: wordsInStep(value) } : { step: 0, text: "" };
}

/** The text of a file that can't be evaluated; undefined if names in it may be built at run time or imported. */
function namingText(path: string): string | undefined {
  const text = readTextIfPresent(path);
  return text === undefined || makesNames.test(text) ? undefined : text;
}

/** Matches concatenated text, a first argument that is not a text, and imports from other modules than this package. */
const makesNames =
  /\$\{|["'`]\s*\+|\+\s*["'`]|\.(?:concat|join)\(|["'`]\.[a-z]|\b(?:createTable|renameTable|addColumn|renameColumn|alterColumns)\(\s*(?!["'`\s])|\b(?:from|import|require)\b\s*\(?\s*["'`](?!lance-migrate["'`])/;
