import { resolve } from "node:path";
import { MigrateError } from "../../errors/migrate-error.ts";
import { formatMigration } from "../../migrations/file-name.ts";
import { readGenerated, writeGenerated } from "../../migrations/generated-file.ts";
import { protectsNothing } from "./check/check-contracts.ts";
import { parseContract, columnLabel, type ContractDocument } from "./check/contract.ts";
import { writeContract } from "./write-contract.ts";
import { databaseAfter, schemaRevisions, type SchemaRevision } from "../../run/schema-history.ts";
import { jsonAt } from "./check/read-contracts.ts";
import { derivedFiles } from "../../cli/command/additions.ts";
import { defineCommand, withAnyTarget } from "../../cli/command/command.ts";
import { switchFlag, textFlag } from "../../cli/command/flags.ts";
import { authoring } from "../shared/authoring.ts";
import { renderWritten, shownPath } from "../shared/written-files.ts";
import type * as shapes from "./json.ts";

const usualFile = "contract.json";

export const contractCommand = defineCommand({
  describe: "write what a release of an application reads and writes, for plan and up to protect it",
  examples: [
    ["migrate contract --application search --release 1.4.0", `write ${usualFile} for the tables of the types file`],
    ["migrate contract --release 1.5.0", "update it: the same columns, with the types that they have now"],
    ["migrate contract --check", "in CI: exit with 3 if the file is out of date"],
  ],
  exits: { pending: "with --check: the file is missing or out of date" },
  flags: {
    application: textFlag("the name of the application (that in the file)", { value: "NAME" }),
    release: textFlag("the name of the release (that in the file)", { value: "NAME" }),
    out: textFlag(`the file to write (${usualFile})`, { value: "FILE" }),
    all: switchFlag("write all tables and columns, also those that the file leaves out"),
    check: switchFlag("write nothing; exit with 3 if the file is missing or out of date"),
  },
  conflicts: [["check", "all"]],
  async run(context) {
    const { flags, output, features, underWay } = context;
    const { out = usualFile, all, check } = flags;
    const path = resolve(out);
    const shown = shownPath(path);
    return await withAnyTarget(context, async (session) => {
      const found = readGenerated(path, "ERR_CONTRACT_INVALID");
      const before = found === undefined ? undefined : contractAt(path);
      const { application = before?.application, release = before?.release } = flags;
      if (check === true && before === undefined) {
        output.data<typeof shapes.contract>({ file: shown, stale: true });
        const elsewhere = flags.out === undefined ? "; for a file elsewhere, add --out FILE" : "";
        output.problem(
          `${shown} is missing; migrate contract --application NAME --release NAME${outOf(flags.out)} writes it${elsewhere}`,
        );
        return "pending";
      }
      if (application === undefined || release === undefined)
        throw new MigrateError("ERR_USAGE", {
          problem: `--${application === undefined ? "application" : "release"} is required, as there is no ${shown} yet`,
        });
      const revisions = await schemaRevisions(authoring(session));
      // An application may have been written for the tables before the last migrations.
      const typed = (await derivedFiles(features)).described(session, revisions)?.revisions ?? revisions;
      const last = typed.at(-1);
      const named = {
        $schema: before?.$schema,
        application,
        release,
        ...(last && { migrations: formatMigration(last) }),
      };
      const { document, gone, left } = writeContract(named, databaseAfter(typed), all === true ? undefined : before);
      const text = `${JSON.stringify(document, null, 2)}\n`;
      if (Object.keys(document.tables).length === 0) output.progress(`note: ${protectsNothing(shown)}`);
      // Neither the layout nor the number of later migrations matters to those who read it.
      const isCurrent = before !== undefined && statedIn(before) === statedIn(document);
      if (check === true) {
        output.data<typeof shapes.contract>({ file: shown, stale: !isCurrent });
        if (isCurrent) output.result(`equal: ${shown} is up to date`);
        else output.problem(`${shown} is out of date; migrate contract${outOf(flags.out)} writes it`);
        return isCurrent ? undefined : "pending";
      }
      if (!isCurrent) {
        underWay(true);
        writeGenerated(path, text, "ERR_CONTRACT_INVALID");
      }
      output.data<typeof shapes.contract>({ file: shown, written: !isCurrent, gone: [...gone], left: [...left] });
      if (isCurrent) output.result(`nothing to do: ${shown} is up to date`);
      else renderWritten(output, [path]);
      if (before !== undefined && (before.application !== application || before.release !== release))
        output.progress(`note: ${shown} was the contract of ${before.application} ${before.release}`);
      if (gone.length > 0) output.progress(`removed, since the tables do not have it: ${gone.join(", ")}`);
      const known = placesBefore(before, revisions);
      const added = left.filter((place) => known?.has(place) === false);
      const same = left.filter((place) => !added.includes(place));
      if (added.length > 0)
        output.progress(
          `left out, and new since ${before!.migrations}: ${added.join(", ")}; add what this release uses to the file`,
        );
      if (same.length > 0) output.progress(`left out as before: ${same.join(", ")}; --all writes everything`);
      return undefined;
    });
  },
});

function outOf(out: string | undefined): string {
  return out === undefined ? "" : ` --out ${out}`;
}

/** What a contract states about tables: a migration that changes none of these does not make it out of date. */
function statedIn(contract: ContractDocument): string {
  return JSON.stringify({ ...contract, $schema: undefined, migrations: undefined });
}

/** The tables and columns when the contract was written; undefined if it does not state when. */
function placesBefore(
  before: ContractDocument | undefined,
  revisions: readonly SchemaRevision[],
): ReadonlySet<string> | undefined {
  const at = revisions.findIndex((revision) => formatMigration(revision) === before?.migrations);
  if (at === -1) return undefined;
  const tables = [...databaseAfter(revisions.slice(0, at + 1))];
  return new Set(
    tables.flatMap(([name, { columns }]) => [name, ...columns.map((one) => columnLabel(name, [one.name]))]),
  );
}

/** Throws ERR_CONTRACT_INVALID, also for a file that is no contract. */
function contractAt(path: string): ContractDocument {
  const document = jsonAt(path);
  parseContract(document, shownPath(path));
  return document as ContractDocument;
}
