/** Errors about usage and configuration. */
import { count, failed, refused, someOf, usage } from "./entry.ts";

export const usageErrors = {
  ERR_USAGE: usage((d: { problem: string }) => d.problem),
  ERR_CONFIG_MISSING: usage((d: { file: string }) => `there is no configuration file ${d.file}; check --config`),
  ERR_PROJECT_MISSING: usage(
    (d: { folder: string; config: string; database: string }) =>
      `${d.folder} has neither a configuration (${d.config}) nor a database (${d.database}); run the command in the folder of the project, name its configuration with --config, or run migrate init to set up a project here`,
  ),
  ERR_CONFIG_UNREADABLE: usage(
    (d: { file: string; problem: string }) =>
      `${d.file} can't be loaded: ${d.problem}${d.problem.includes("; ") ? "" : "; run it with Node to see where"}`,
  ),
  ERR_CONFIG_INVALID: usage((d: { file: string; problem: string }) => `${d.file}: ${d.problem}`),
  ERR_TARGET_UNKNOWN: usage(
    (d: { name: string; known: readonly string[]; similar?: string | undefined }) =>
      `there is no target ${JSON.stringify(d.name)} in the configuration; ${d.similar === undefined ? `it has ${someOf(d.known) || "none"}` : `did you mean ${d.similar}?`}`,
  ),
  ERR_DATABASE_UNKNOWN: usage(
    (d: { name: string; target: string; count: number; similar: string | undefined }) =>
      `target ${d.target} has no database ${JSON.stringify(d.name)} among its ${count(d.count, "database")}${d.similar === undefined ? "" : `; did you mean ${d.similar}?`}`,
  ),
  ERR_DATABASE_NEEDED: usage(
    (d: { target: string }) =>
      `target ${d.target} has several databases; choose one with --database NAME, or in a program with database (migrate up and migrate status run on all of them, but not with --plan or --dry-run; migrate report --fleet reports on all of them)`,
  ),
  ERR_DATABASE_MISSING: refused((d: { target: string; place: string; near?: string | undefined }) =>
    d.near !== undefined
      ? `target ${d.target}: there is no database at ${d.place}, and none was made; if ${d.near} is meant, correct the address in the configuration, and otherwise make that folder first`
      : `target ${d.target}: ${d.place} has no tables, and its guard mustExist allows no new database; check the address, or remove mustExist from the configuration for the first run`,
  ),
  ERR_MIGRATIONS_FOLDER: usage(
    (d: { folder: string; problem: string }) =>
      `the migrations folder ${d.folder} ${d.problem}; set "migrations" in migrate.config.ts, or run migrate new NAME, or migrate pull where there are tables already`,
  ),
  ERR_NAME_INVALID: usage(
    (d: { name: string }) =>
      `${JSON.stringify(d.name)} is not a valid name for a migration; use letters, digits, "_" and "-", such as add_headlines`,
  ),
  ERR_SCHEMA_MISSING: usage(
    (d: { file: string }) =>
      `${d.file} does not exist; migrate pull --schema writes it from the migrations, or declare there what tables there should be: export default defineSchema({ … })`,
  ),
  ERR_SCHEMA_INVALID: usage((d: { file: string; problem: string }) => `${d.file}: ${d.problem}`),
  ERR_NOTATION: usage(
    (d: { flag: string; text: string; problem: string; form: string }) =>
      `--${d.flag} ${JSON.stringify(d.text)}: ${d.problem}; it is written --${d.flag} ${JSON.stringify(d.form)}`,
  ),
  ERR_TEMPLATE_MISSING: usage(
    (d: { file: string }) => `the template ${d.file} is missing; restore it or reinstall lance-migrate`,
  ),
  ERR_TEMPLATE_INVALID: usage((d: { file: string; problem: string }) => `the template ${d.file} ${d.problem}`),
  ERR_FORMAT: usage(
    (d: { problem: string }) => `the formatter of the setting format can't be used: ${d.problem}; nothing is written`,
  ),
  ERR_FILE_EXISTS: usage((d: { file: string }) => `${d.file} exists already; choose another name`),
  ERR_ENGINE_MISSING: usage(
    (d: { package: string; install: string }) =>
      `tables in a folder or an object store need the package ${d.package}, which is not installed; run: ${d.install}`,
  ),
  ERR_ENGINE_VERSION: usage(
    (d: { package: string; version: string; folder: string; unmet: string; install: string }) =>
      `lance-migrate can't work with ${d.package} ${d.version} in ${d.folder}: ${d.unmet}; run: ${d.install}`,
  ),
  ERR_ENGINE_UNLOADABLE: usage(
    (d: { package: string; platform: string; problem: string }) =>
      `${d.package} is installed, but can't be loaded on ${d.platform}: ${d.problem}; install the packages again on this machine`,
  ),
  ERR_PACKAGES_MISSING: usage(
    (d: { use: string; packages: readonly string[]; install: string }) =>
      `${d.use} needs ${d.packages.join(", ")}, which ${d.packages.length === 1 ? "is" : "are"} not installed; run: ${d.install}`,
  ),

  ERR_UNCAUGHT: failed(
    (d: { problem: string; done?: string | undefined }) =>
      `an error was thrown that nothing awaits: ${d.problem}; ` +
      `where a migration or the configuration started it, await it there (--verbose shows where)${doneUntil(d)}`,
  ),
  ERR_LISTENER: failed(
    (d: { problem: string; done?: string | undefined }) =>
      `the function emit of the options failed: ${d.problem}; fix it, and call the method again${doneUntil(d)}`,
  ),
  ERR_OUTPUT: failed(
    (d: { stream: string; problem: string; done?: string | undefined }) =>
      `${d.stream} can't be written: ${d.problem}; make room, or send the output elsewhere${doneUntil(d)}`,
  ),
} as const;

/** What a command that was stopped by the error had done. */
function doneUntil({ done }: { readonly done?: string | undefined }): string {
  return done === undefined ? "" : `; ${done}`;
}
