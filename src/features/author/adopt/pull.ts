/** Writes the tables of a database without migrations as the steps of the first migration. Changes nothing. */
import { relative } from "node:path";
import { count, MigrateError } from "../../../errors/migrate-error.ts";
import { foldLedger } from "../../../ledger/state/fold.ts";
import { adopt, undeclarable, type Adoption } from "./adopt-tables.ts";
import { shellWord } from "../../shared/format-notation.ts";
import { similarName } from "../../../schema/names.ts";
import { runContext, type MigratorOptions } from "../../../run/run-context.ts";
import { presentNames, presentTables, viewWords } from "./present-tables.ts";

/** `except`: the tables to leave out. Throws ERR_ADOPT_REFUSED, ERR_ADOPT_IMPOSSIBLE. */
export async function pull(options: MigratorOptions, except: readonly string[]): Promise<Adoption> {
  const { target, ledger } = options;
  const [first, ...rest] = options.migrations.list();
  const refused = (problem: string, hint: string) => new MigrateError("ERR_ADOPT_REFUSED", { problem, hint });
  const { migrations } = foldLedger(await runContext(options).journal.read());
  if (first !== undefined && rest.length + migrations.size === 0)
    throw refused(
      `there is a migration already, ${first.file}, which is not applied on ${target.name}, and pull writes the first one`,
      `if it is the example of migrate init, remove it (rm ${shellWord(relative(options.folder ?? "", first.path))}) and run migrate pull again; otherwise migrate verify --write writes what differs from it`,
    );
  if (first !== undefined)
    throw refused(
      `there are migrations already, such as ${first.file}, and pull writes the first one`,
      "migrate verify --write writes what differs from them; for another database name another folder as migrations in the configuration",
    );
  if (!target.capabilities.describes)
    throw refused(
      `${target.name} can't describe its tables`,
      'use the dialect "namespace" if the service has it, or write the tables into schema.ts and run migrate generate, then migrate baseline',
    );
  if (migrations.size > 0)
    throw refused(
      `the ledger ${ledger} of ${target.name} knows ${count(migrations.size, "migration")}, and their files are not in the migrations folder`,
      "bring the files back, for example from git; or name another ledger in the configuration to start over",
    );
  const names = await presentNames(options);
  for (const name of except) if (!names.includes(name)) throw unknownTable(name, names);
  const chosen = names.filter((name) => !except.includes(name));
  const but = except.length === 0 ? "" : " but those that --except names";
  if (chosen.length === 0)
    throw refused(
      `${target.name} has no tables${but} at ${target.place}`,
      "check the target, or begin with migrate new NAME",
    );
  const unreadable = (name: string) => target.unreadable?.(name) ?? [];
  const readable = chosen.filter((name) => unreadable(name).length === 0);
  const { tables: found, views, ledgers } = await presentTables(target, readable);
  const problemsIn = (name: string): readonly string[] => [
    ...unreadable(name).map((column) => `table ${name}: column ${column}, which the engine can't read`),
    ...undeclarable(new Map([...found].filter(([own]) => own === name))),
  ];
  const stuck = chosen.filter((name) => problemsIn(name).length > 0);
  const flags = stuck.map((name) => `--except ${shellWord(name)}`);
  checkDeclarable(
    stuck.flatMap(problemsIn),
    `leave these tables out: run migrate pull ${flags.join(" ")}; or change them first`,
  );
  if (found.size === 0)
    throw refused(
      `${target.name} has no tables${but === "" ? " but" : `${but} and`} ${views.size === 0 ? "" : "views and "}the ledgers of other migrations at ${target.place}`,
      "check the target, name its ledger in the configuration, or begin with migrate new NAME",
    );
  const adoption = adopt(new Map(), found);
  const others = [...new Set(ledgers.values())].map((name) => `${name}, which is a ledger of other migrations`);
  return { ...adoption, left: [...others, ...viewWords(views), ...adoption.left] };
}

/** Throws ERR_ADOPT_IMPOSSIBLE. */
export function checkDeclarable(problems: readonly string[], hint: string): void {
  if (problems.length > 0) throw new MigrateError("ERR_ADOPT_IMPOSSIBLE", { problems, hint });
}

function unknownTable(name: string, names: readonly string[]): MigrateError {
  const similar = similarName(name, names);
  const problem = `--except ${name}: there is no such table${similar === undefined ? "" : `; did you mean ${similar}?`}`;
  return new MigrateError("ERR_USAGE", { problem });
}
