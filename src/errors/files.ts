/** Errors about migration files and the files generated from them. */
import { at, failed, refused, usage, type StepPlace } from "./entry.ts";

export const filesErrors = {
  ERR_FILE_NAME: refused(
    (d: { file: string }) =>
      `${d.file} is not a valid name for a migration file; it must look like 0001_create_documents.ts (also .js, .mts, .mjs)`,
  ),
  ERR_VERSION_DUPLICATE: refused(
    (d: { version: string; files: readonly string[] }) =>
      `${d.files.join(" and ")} have the same number ${d.version}; migrate rebase gives those of your branch others, or do it by hand`,
  ),
  ERR_FILE_UNREADABLE: refused(
    (d: { file: string; problem: string; line?: number | undefined; column?: number | undefined }) =>
      `${d.file} can't be loaded: ${d.problem}`,
  ),
  ERR_FILE_EXPORTS: refused(
    (d: {
      file: string;
      problem: string;
      /** The export that is wrong or missing. */
      list: "up" | "down" | "ran" | "accepts" | "was" | "replaces";
      /** Whether it has no items. */
      isEmpty?: boolean | undefined;
      /** Whether its steps are not the same each time. */
      differs?: boolean | undefined;
    }) =>
      (d.list === "up" || d.list === "down") && d.differs !== true
        ? `${d.file} ${d.problem}; write its steps in it, such as: export const ${d.list} = [${d.list === "up" ? 'addColumn("documents", "language", utf8())' : 'dropColumn("documents", "language")'}]`
        : `${d.file} ${d.problem}`,
  ),
  ERR_STEP_INVALID: refused((d: StepPlace & { problem: string }) => `${at(d)}: ${d.problem}`),
  ERR_SQUASH: refused((d: { problem: string }) => `nothing was squashed: ${d.problem}`),
  ERR_BRANCH: usage((d: { problem: string }) => d.problem),
  ERR_FILE_AFTER: refused(
    (d: { file: string; says: string; is: string; before?: string | undefined }) =>
      `${d.file} has after("${d.says}"), but ${d.before ?? "no migration"} stands before it; write after("${d.is}", …)`,
  ),
  ERR_TYPES_FOREIGN: usage(
    (d: { file: string }) =>
      `${d.file} is there, and migrate types did not write it; move it away, or name another file`,
  ),
  ERR_TYPES_FILE: failed(
    (d: { file: string; problem: string }) => `${d.file} ${d.problem}; fix that, then migrate types rewrites it`,
  ),
  ERR_BUNDLE_INVALID: usage(
    (d: { file: string; problem: string; hint: string }) => `the bundle ${d.file} ${d.problem}; ${d.hint}`,
  ),
  ERR_BUNDLE_FOREIGN: usage(
    (d: { file: string }) =>
      `${d.file} is there, and migrate build did not write it; move it away, or name another file with --out`,
  ),
  ERR_BUNDLE_FILE: failed(
    (d: { file: string; problem: string }) => `${d.file} ${d.problem}; fix that, then run migrate build again`,
  ),
  ERR_REPORT_FOREIGN: usage(
    (d: { file: string }) =>
      `${d.file} is there, and migrate report did not write it; move it away, or name another file with --out`,
  ),
  ERR_REPORT_FILE: failed(
    (d: { file: string; problem: string }) => `${d.file} ${d.problem}; fix that, then run migrate report again`,
  ),
  ERR_LOCK_FILE: failed(
    (d: { file: string; problem: string }) => `${d.file} ${d.problem}; fix that, then migrate lint --write rewrites it`,
  ),
  ERR_LOCK_STALE: refused(
    (d: { file: string; problem: string }) => `run migrate lint --write, because ${d.file} ${d.problem}`,
  ),
} as const;
