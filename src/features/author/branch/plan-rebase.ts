/** Gives the migrations of a branch numbers after the incoming ones, and rewrites their steps. Touches no table. */
import { isMigrateError, MigrateError } from "../../../errors/migrate-error.ts";
import { canonicalJson, checksumOf } from "../../../migrations/checksum.ts";
import type { MigrationFile } from "../../../migrations/list-files.ts";
import { formatFormer, namesNow } from "../../../migrations/former-names.ts";
import type { Migration } from "../../../migrations/load.ts";
import { loadMigrations } from "../../../migrations/source.ts";
import { replayOn } from "../../../plan/history/replay.ts";
import { rebase, type MovedMigration, type Rebase } from "./rebase-steps.ts";
import type { MigratorOptions } from "../../../run/run-context.ts";

interface Sides {
  /** The name of the other side, for messages. */
  readonly onto: string;
  readonly theirs: Texts;
  /** The files at the commit where the sides parted. */
  readonly fork: Texts;
  /** The other side's files as they are in the working folder. */
  readonly texts: Texts;
}

/** The git hashes of texts, by the names of files. */
type Texts = ReadonlyMap<string, string>;

export interface RebasedMigration extends MovedMigration {
  readonly version: number;
  /** The number of the migration before it. */
  readonly before: number;
  /** The entries of `was`: how a database may know it. Empty if such a database must roll it back first. */
  readonly was: readonly string[];
  /** The lists of steps that ran under those names, if they differ. */
  readonly ran: readonly (readonly Migration["steps"][number][])[];
  readonly isRewritten: boolean;
  readonly isDownRewritten: boolean;
}

export interface RebaseResult extends Pick<Rebase, "apart" | "notes"> {
  readonly renumbered: readonly RebasedMigration[];
  readonly incoming: readonly MigrationFile[];
}

/** Throws ERR_BRANCH, ERR_REBASE, and the error of a migration of either side that can't work. */
export async function planRebase(
  { migrations: source, target }: Pick<MigratorOptions, "migrations" | "target">,
  { onto, theirs, fork, texts }: Sides,
): Promise<RebaseResult> {
  const files = source.list((problem) => {
    if (!isMigrateError(problem, "ERR_VERSION_DUPLICATE")) throw problem;
  });
  checkSides(files, { onto, theirs, fork, texts });
  // A squashed migration counts as part of what both sides began with.
  const isOwn = ({ file, replaces }: MigrationFile) => !theirs.has(file) && replaces === undefined;
  const own = files.filter(isOwn);
  const others = files.filter((file) => !isOwn(file));
  const [first = { version: Infinity }] = own;
  const last = others.at(-1)?.version ?? 0;
  const incoming = others.filter(
    ({ file, version, replaces }) => replaces === undefined && (version >= first.version || !fork.has(file)),
  );
  if (own.length === 0 || (incoming.length === 0 && first.version > last)) {
    checkNumbers(files, onto);
    return { renumbered: [], incoming: [], apart: [], notes: [] };
  }
  const before = others.filter((file) => !incoming.includes(file));
  const base = replayOn(new Map(), await loadMigrations(source, before), target.capabilities);
  const branching = {
    base,
    incoming: await loadMigrations(source, incoming),
    own: await loadMigrations(source, own),
    capabilities: target.capabilities,
  };
  const { moved, apart, notes } = rebase(branching);
  // Own numbers that are already above theirs may stay.
  const numberOf = (index: number) => (first.version > last ? own[index]!.version : last + 1 + index);
  const renumbered = moved.map((one, index) => {
    const before = index === 0 ? last : numberOf(index - 1);
    return renumber(one, { version: numberOf(index), before }, apart.length === 0);
  });
  return { renumbered, incoming, apart, notes };
}

/** Throws ERR_BRANCH. */
function checkSides(files: readonly MigrationFile[], { onto, theirs, fork, texts }: Sides): void {
  const refused = (problem: string) => new MigrateError("ERR_BRANCH", { problem });
  const here = new Set(files.map(({ file }) => file));
  const isMigration = (file: string) => /^\d+_.*\.(?:ts|js|mts|mjs)$/.test(file);
  for (const [file, text] of theirs) {
    if (!isMigration(file) || fork.has(file)) continue;
    if (!here.has(file)) throw refused(`${onto} has ${file}, which your branch lacks; merge ${onto} first`);
    if (texts.get(file) !== text)
      throw refused(`${file} is not that of ${onto}; bring that back, and give your own migration another name`);
  }
  for (const { file, was = [] } of files)
    for (const { version, name } of was) {
      const left = files.find((one) => one.version === version && one.name === name && !theirs.has(one.file));
      if (left !== undefined && left.file !== file)
        throw refused(`${left.file} is ${file} by now, and is still there; delete ${left.file}`);
    }
}

/** Throws ERR_BRANCH if two migrations share a number: with nothing to renumber, they would keep it. */
function checkNumbers(files: readonly MigrationFile[], onto: string): void {
  const twice = files.find(({ version }, index) => files[index + 1]?.version === version);
  if (twice === undefined) return;
  const names = files.filter(({ version }) => version === twice.version).map(({ file }) => file);
  const problem = `${names.join(" and ")} have the same number, and ${onto} has all of them; name the other side with --onto`;
  throw new MigrateError("ERR_BRANCH", { problem });
}

function renumber(
  { migration, steps, down }: MovedMigration,
  { version, before: previous }: Pick<RebasedMigration, "version" | "before">,
  isSame: boolean,
): RebasedMigration {
  const { checksum, was = [], ran = [], steps: before } = migration;
  const isRewritten = checksumOf(steps) !== checksum;
  return {
    migration,
    steps,
    down,
    version,
    before: previous,
    isRewritten,
    isDownRewritten: canonicalJson(down) !== canonicalJson(migration.down),
    was: isSame ? [...was.map(formatFormer), ...(version === migration.version ? [] : namesNow(migration, ran))] : [],
    ran: isSame && isRewritten ? [...ran, before] : ran,
  };
}
