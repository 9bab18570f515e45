/** Opens a target of the configuration, or one of its databases. */
import { MigrateError } from "../errors/migrate-error.ts";
import type { OtherTarget } from "../plan/problems-elsewhere.ts";
import { similarName } from "../schema/names.ts";
import { databaseSlot, type Target } from "../targets/contract/target.ts";
import { loadTarget, targetKinds } from "../targets/index.ts";
import { listDatabases, withoutDatabase } from "./databases.ts";
import { problemInSettings, type LoadedConfig } from "./load-config.ts";

/** The name of the target that is meant: the chosen one, else the configured or only one. */
export function targetNamed(config: LoadedConfig, chosen?: string): string {
  const known = Object.keys(config.targets);
  const name = chosen ?? config.target ?? (known.length === 1 ? known[0]! : undefined);
  if (name === undefined)
    throw new MigrateError("ERR_CONFIG_INVALID", {
      file: config.file,
      problem: `has several targets (${known.join(", ")}) and does not choose one; set "target" or pass --target`,
    });
  checkTarget(config, name);
  return name;
}

/** Throws ERR_TARGET_UNKNOWN. */
export function checkTarget({ targets }: LoadedConfig, name: string): void {
  if (Object.hasOwn(targets, name)) return;
  const known = Object.keys(targets);
  throw new MigrateError("ERR_TARGET_UNKNOWN", { name, known, similar: similarName(name, known) });
}

/** One of the databases of a target, whose settings were checked. */
export interface CheckedDatabase {
  readonly name: string;
  readonly settings: object;
}

/**
 * Opens a target. `database`: one of its databases, if it has several; without it, the target opens but throws
 * ERR_DATABASE_NEEDED when it is used.
 */
export async function openTarget(config: LoadedConfig, name: string, database?: CheckedDatabase): Promise<Target> {
  const { given, databases, module, refuse, check } = await targetIn(config, name);
  const context = { name, folder: config.folder };
  if (database !== undefined) return await module.open(database.settings, context);
  check(given, "");
  if (databases === undefined) {
    if (hasSlot(given)) refuse(` contains ${databaseSlot} and has no databases; list their names in databases`);
    return await module.open(given, context);
  }
  // A name that can be a part of a host, and a port.
  const any = module.inDatabase(given, "0", {}, config.folder);
  return withoutDatabase(await module.open("problem" in any ? given : any.settings, context));
}

/** All databases of a target, in their order. Throws ERR_CONFIG_INVALID if the settings of one of them are wrong. */
export async function databasesOf(
  config: LoadedConfig,
  name: string,
  loadSeconds?: number,
): Promise<readonly CheckedDatabase[]> {
  const { given, databases, module, refuse, check } = await targetIn(config, name);
  const listed = await listDatabases(databases!, { ...config, target: name, loadSeconds });
  const places = new Map<string, string>();
  return listed.map(({ name: database, own }) => {
    const of = `, database ${database}`;
    check({ ...given, ...own }, of);
    const found = module.inDatabase(given, database, own, config.folder);
    if ("problem" in found) return refuse(`${of}: ${found.problem}`);
    const { settings, place } = found;
    check(settings, of);
    const other = places.get(place);
    if (other !== undefined) refuse(`: ${other} and ${database} are the same database`);
    places.set(place, database);
    return { name: database, settings };
  });
}

async function targetIn({ targets, kinds, file }: LoadedConfig, name: string) {
  const { guards: _, push: __, contracts: ___, databases, ...given } = targets[name]!;
  const refuse = (problem: string): never => {
    throw new MigrateError("ERR_CONFIG_INVALID", { file, problem: `targets.${name}${problem}` });
  };
  const module = await loadTarget(given.kind, kinds);
  if (module === undefined)
    return refuse(`.kind is ${JSON.stringify(given.kind)}; it must be one of ${targetKinds(kinds).join(", ")}`);
  const check = (settings: object, of: string) => {
    const problem = problemInSettings(module.options(settings));
    if (problem !== undefined) refuse(`${of}: ${problem}`);
  };
  return { given, databases, module, refuse, check };
}

function hasSlot(settings: object): boolean {
  return Object.values(settings).some((value) => typeof value === "string" && value.includes(databaseSlot));
}

/** All targets but the chosen one, by their capabilities. Leaves out those that can't be opened, as without an API key. */
export async function otherTargets(config: LoadedConfig, chosen: string): Promise<readonly OtherTarget[]> {
  const names = Object.keys(config.targets).filter((name) => name !== chosen);
  const opened = await Promise.allSettled(names.map(async (name) => await openTarget(config, name)));
  const others = opened.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  await Promise.all(others.map(async (target) => await target.close()));
  return others.map(({ name, capabilities }) => ({ name, capabilities }));
}
