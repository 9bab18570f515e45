/** Which migrations of a branch get which numbers behind those that came in, and what they are there. Touches no table. */
import { isMigrateError, MigrateError } from "../errors.ts";
import { checksumOf, shortHash } from "../migrations/checksum.ts";
import { formatMigration } from "../migrations/file-name.ts";
import type { MigrationFile } from "../migrations/files.ts";
import { formatFormer } from "../migrations/former.ts";
import type { Migration } from "../migrations/load.ts";
import { loadMigrations } from "../migrations/source.ts";
import { compileMigration } from "../plan/compile.ts";
import { placed } from "../plan/fold.ts";
import { rebase, type MovedMigration, type Rebase } from "../plan/rebase.ts";
import { tablesAfter } from "../schema/action.ts";
import { change, type Table } from "../schema/table.ts";
import type { MigratorOptions } from "./migrator.ts";

/** What the two sides have, by the names of files. */
export interface Sides {
  /** The other side, for messages. */
  readonly onto: string;
  readonly theirs: ReadonlySet<string>;
  /** What both began with. */
  readonly fork: ReadonlySet<string>;
}

export interface Renumbered extends MovedMigration {
  readonly version: number;
  /** The number of the one that it comes after. */
  readonly before: number;
  /** Of `was`: how a database may know it. Empty where such a database has to take it back first. */
  readonly was: readonly string[];
  /** The lists of steps that ran under those names, where they are others. */
  readonly ran: readonly (readonly Migration["steps"][number][])[];
  readonly isRewritten: boolean;
}

export interface RebaseResult extends Pick<Rebase, "apart" | "notes"> {
  readonly renumbered: readonly Renumbered[];
  readonly incoming: readonly MigrationFile[];
}

/** Throws ERR_BRANCH, ERR_REBASE and what keeps the migrations of either side from working. */
export async function planRebase(
  { migrations: source, target }: Pick<MigratorOptions, "migrations" | "target">,
  { onto, theirs, fork }: Sides,
): Promise<RebaseResult> {
  const files = source.list((problem) => {
    if (!isMigrateError(problem, "ERR_VERSION_DUPLICATE")) throw problem;
  });
  const isOwn = ({ file }: MigrationFile) => !theirs.has(file);
  const own = files.filter(isOwn);
  const others = files.filter((file) => !isOwn(file));
  const lacking = [...theirs].find(
    (file) => /^\d+_.*\.(?:ts|js|mts|mjs)$/.test(file) && !files.some((one) => one.file === file),
  );
  if (lacking !== undefined && !fork.has(lacking))
    throw new MigrateError("ERR_BRANCH", { problem: `${onto} has ${lacking}, which is not here; merge it first` });
  const [first = { version: Infinity }] = own;
  const incoming = others.filter(({ file, version }) => version >= first.version || !fork.has(file));
  if (own.length === 0 || incoming.length === 0) return { renumbered: [], incoming: [], apart: [], notes: [] };
  const before = others.filter((file) => !incoming.includes(file));
  const base = new Map<string, Table>();
  for (const migration of await loadMigrations(source, before))
    for (const { place, action } of compileMigration(migration, target.capabilities))
      placed(place, () => change(base, tablesAfter(base, action)));
  const branching = {
    base,
    incoming: await loadMigrations(source, incoming),
    own: await loadMigrations(source, own),
    describing: target.capabilities,
  };
  const { moved, apart, notes } = rebase(branching);
  // Numbers that stand behind theirs already may stay.
  const last = others.at(-1)!.version;
  const numberOf = (index: number) => (first.version > last ? own[index]!.version : last + 1 + index);
  const renumbered = moved.map((one, index) => {
    const before = index === 0 ? last : numberOf(index - 1);
    return renumber(one, { version: numberOf(index), before }, apart.length === 0);
  });
  return { renumbered, incoming, apart, notes };
}

function renumber(
  { migration, steps, down }: MovedMigration,
  { version, before: previous }: Pick<Renumbered, "version" | "before">,
  isSame: boolean,
): Renumbered {
  const { checksum, was = [], ran = [], steps: before } = migration;
  const isRewritten = checksumOf(steps) !== checksum;
  const ownName = `${formatMigration(migration)} ${shortHash(checksum)}`;
  return {
    migration,
    steps,
    down,
    version,
    before: previous,
    isRewritten,
    was: isSame ? [...was.map(formatFormer), ...(version === migration.version ? [] : [ownName])] : [],
    ran: isSame && isRewritten ? [...ran, before] : ran,
  };
}
