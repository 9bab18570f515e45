import { MigrateError } from "../../errors/migrate-error.ts";
import { formatMigration } from "../../migrations/file-name.ts";
import { checkRepository, filesAt, filesAtFork, otherSide, textsOf } from "../shared/git.ts";
import { planRebase, type RebaseResult, type RebasedMigration } from "./branch/plan-rebase.ts";
import { describeAction } from "../../actions/apply-action.ts";
import { canonicalJson } from "../../migrations/checksum.ts";
import { schemaRevisions } from "../../run/schema-history.ts";
import { compileStep } from "../../steps/registry.ts";
import { derivedFiles } from "../../cli/command/additions.ts";
import { defineCommand, withAnySession } from "../../cli/command/command.ts";
import { choiceFlag, switchFlag, textFlag } from "../../cli/command/flags.ts";
import { writeLockOf } from "../shared/lock-file.ts";
import type { Output } from "../../cli/command/output.ts";
import { renderUpdated } from "../shared/written-files.ts";
import type * as shapes from "./json.ts";

export const rebaseCommand = defineCommand({
  describe: "renumber this branch's migrations after those that were merged, and report whether the order matters",
  examples: [
    ["migrate rebase --dry-run", "show what would be renumbered, and whether the order matters"],
    ["migrate rebase", "renumber after those of the main branch"],
    ["migrate rebase --onto origin/release", "renumber after those of another branch"],
  ],
  exits: { refused: "the order of the migrations matters" },
  flags: {
    "dry-run": switchFlag("print what would be done, and change nothing"),
    accept: choiceFlag("renumber even if the order matters; only if no database has run this branch's migrations", [
      "order",
    ]),
    onto: textFlag("the git branch with the merged migrations; by default the main branch", { value: "BRANCH" }),
  },
  async run(context) {
    const { flags, output, features, underWay } = context;
    const { "dry-run": isDry = false } = flags;
    const accepts = flags.accept === "order";
    return await withAnySession(context, async (session) => {
      const { folder, options, config } = session;
      checkRepository(folder, "give one of the files another number by hand");
      const onto = flags.onto ?? otherSide(folder);
      const theirs = filesAt(folder, onto);
      const texts = textsOf(folder, [...theirs.keys()]);
      const result = await planRebase(options, { onto, theirs, fork: filesAtFork(folder, onto), texts });
      const { renumbered, apart } = result;
      if (apart.length > 0 && !isDry && !accepts)
        throw new MigrateError("ERR_ORDER_MATTERS", { problem: apart.join("; ") });
      let lock: string | undefined;
      let types: readonly string[] = [];
      const { checkRenumbering, renumberMigrations } = await import("./scaffold/renumber-migrations.ts");
      if (isDry) await checkRenumbering(renumbered);
      else if (renumbered.length > 0) {
        underWay(true);
        await renumberMigrations(config, renumbered);
        const revisions = await schemaRevisions(options);
        lock = writeLockOf(session, revisions);
        types = await (await derivedFiles(features)).update(session, async () => revisions, output);
      }
      output.data<typeof shapes.rebase>(documentOf(result, onto, lock));
      report(result, { onto, isDry }, output);
      renderUpdated(output, { lock, types });
      // A dry run ends as the run would.
      return apart.length > 0 && !accepts ? "refused" : undefined;
    });
  },
});

function documentOf({ renumbered, incoming, apart, notes }: RebaseResult, onto: string, lock: string | undefined) {
  return {
    onto,
    incoming: incoming.map(formatMigration),
    migrations: renumbered.map((one) => ({
      from: formatMigration(one.migration),
      to: newName(one),
      changes: changesOf(one),
    })),
    commute: apart.length === 0,
    apart,
    notes,
    lock,
  };
}

function report(
  { renumbered, incoming, apart, notes }: RebaseResult,
  { onto, isDry }: { readonly onto: string; readonly isDry: boolean },
  output: Output,
): void {
  if (renumbered.length === 0) {
    output.result(`nothing to do: ${onto} has no new migration with a number that this branch uses`);
    return;
  }
  for (const one of renumbered) {
    const [from, to] = [formatMigration(one.migration), newName(one)];
    output.result(from === to ? to : isDry ? `${from} would be ${to}` : `${from} is ${to} now`);
    for (const { before, after } of changesOf(one)) output.result(`  ${before} becomes ${after}`);
  }
  const others = incoming.length === 0 ? "what came in" : incoming.map(formatMigration).join(", ");
  const them = renumbered.length === 1 ? "it" : "them";
  const isRenumbered = renumbered.some((one) => newName(one) !== formatMigration(one.migration));
  const way = isRenumbered ? `knows ${them} again` : "takes what came in with migrate up --allow-out-of-order";
  if (apart.length === 0)
    output.result(`the same in either order with ${others}: a database that ran ${them} before ${way}`);
  else
    for (const words of apart)
      output.result(`the order matters, and a database that ran ${them} before does not know ${them} again: ${words}`);
  for (const words of notes) output.result(`note: where they ran before, ${words}`);
}

function newName({ migration, version }: RebasedMigration): string {
  return formatMigration({ version, name: migration.name });
}

/** The steps that have changed, as text. */
function changesOf({
  migration,
  steps,
}: RebasedMigration): readonly { readonly before: string; readonly after: string }[] {
  return steps.flatMap((step, index) => {
    const before = migration.steps[index]!;
    if (canonicalJson(step) === canonicalJson(before)) return [];
    const [was, is] = [before, step].map((one) => compileStep(one).map(describeAction).join(", "));
    return [{ before: was!, after: is! }];
  });
}
