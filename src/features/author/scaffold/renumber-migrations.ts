/** Writes the files of `migrate rebase`: gives migrations other numbers, and other lists where these have changed. */
import { readFileSync, rmSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { move } from "../../../engine/folder/move.ts";
import { valueSource, type Source } from "../../../schema/text/typescript-source.ts";
import { formatMigration, formatVersion } from "../../../migrations/file-name.ts";
import type { RebasedMigration } from "../branch/plan-rebase.ts";
import { formatDraft, type Formatting } from "./format-draft.ts";
import { checkWritten } from "./check-generated.ts";
import { putInPlace, writeDraft } from "./create-migration.ts";
import { stepList, type Lists } from "./fill-lists.ts";
import { withNames } from "./fill-names.ts";

/**
 * Renumbers all of the migrations or, if one can't be rewritten, none. Gives their paths. Throws ERR_TEMPLATE_INVALID,
 * ERR_FORMAT.
 */
export async function renumberMigrations(
  project: Formatting,
  all: readonly RebasedMigration[],
): Promise<readonly string[]> {
  const drafts: { readonly draft: string; readonly from: string; readonly to: string }[] = [];
  try {
    for (const one of all) {
      const { migration, version, steps, down } = one;
      const from = migration.path;
      const to = join(dirname(from), `${formatMigration({ version, name: migration.name })}${extname(from)}`);
      const draft = writeDraft(to, await renumbered(one));
      drafts.push({ draft, from, to });
      const text = await formatDraft(draft, project);
      const { file } = migration;
      await checkWritten(draft, text, { steps, down, file, template: file, folder: project.folder });
    }
    // The last one first, so that each new place is behind all other migrations.
    for (const { draft, from, to } of drafts.toReversed())
      if (from === to) move(draft, to);
      else {
        putInPlace(draft, to);
        rmSync(from);
      }
  } finally {
    for (const { draft } of drafts) rmSync(draft, { force: true });
  }
  return drafts.map(({ to }) => to);
}

/** Throws what `renumberMigrations` would throw before it writes, such as ERR_PACKAGES_MISSING. */
export async function checkRenumbering(all: readonly RebasedMigration[]): Promise<void> {
  for (const one of all) await renumbered(one);
}

/** ts-morph is loaded only for a migration that gets other steps, or was written in another form than ours. */
async function renumbered(one: RebasedMigration): Promise<string> {
  const { path, after } = one.migration;
  const { was, ...others } = listsOf(one);
  const isPlain = was !== undefined && Object.keys(others).length === 0 && after === undefined;
  const text = isPlain ? withNames(readFileSync(path, "utf8"), was) : undefined;
  if (text !== undefined) return text;
  const { rewriteMigration } = await import("./fill-template.ts");
  return rewriteMigration(path, listsOf(one), formatVersion(one.before));
}

function listsOf({ migration, before, steps, down, was, ran, isRewritten, isDownRewritten }: RebasedMigration): Lists {
  const after = migration.after === undefined ? undefined : formatVersion(before);
  // Of two additions at one place, the later one is inserted in front of the earlier one.
  return {
    ...(ran.length > 0 ? { ran: { kind: "array", items: ran.map((one) => stepList(one)) } satisfies Source } : {}),
    ...(was.length > 0 || migration.was !== undefined ? { was: valueSource(was) } : {}),
    ...(isRewritten ? { up: stepList(steps, after) } : {}),
    ...(isDownRewritten && down !== undefined ? { down: stepList(down) } : {}),
  };
}
