/** Opens a target of the configuration, or one of its databases. */
import { MigrateError } from "../errors/migrate-error.ts";
import type { OtherTarget } from "../commands/lint/rules/rule.ts";
import type { Target } from "../targets/contract/target.ts";
import { loadTarget, targetKinds } from "../targets/index.ts";
import { withoutDatabase, type NamedDatabase } from "./databases.ts";
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
  if (!Object.hasOwn(targets, name))
    throw new MigrateError("ERR_TARGET_UNKNOWN", { name, known: Object.keys(targets) });
}

/**
 * Opens a target. `database`: one of its databases, if it has several; without it, the target opens but throws
 * ERR_DATABASE_NEEDED when it is used.
 */
export async function openTarget(config: LoadedConfig, name: string, database?: NamedDatabase): Promise<Target> {
  const { guards: _, databases, ...given } = config.targets[name]!;
  const refuse = (problem: string): never => {
    throw new MigrateError("ERR_CONFIG_INVALID", { file: config.file, problem: `targets.${name}${problem}` });
  };
  const module = await loadTarget(given.kind);
  if (module === undefined)
    return refuse(`.kind is ${JSON.stringify(given.kind)}; it must be one of ${targetKinds.join(", ")}`);
  const check = (settings: object, of: string) => {
    const problem = problemInSettings(module.options(settings));
    if (problem !== undefined) refuse(`${of}: ${problem}`);
  };
  check(given, "");
  const context = { name, folder: config.folder };
  if (databases === undefined) return await module.open(given, context);
  const { name: chosen, own } = database ?? { name: "database", own: {} };
  const settings = module.inDatabase(given, chosen, own);
  if ("problem" in settings) return refuse(`: ${settings.problem}`);
  check(settings, `, database ${chosen}`);
  const target = await module.open(settings, context);
  return database === undefined ? withoutDatabase(target) : target;
}

/** All targets but the chosen one, by their capabilities. Leaves out those that can't be opened, as without an API key. */
export async function otherTargets(config: LoadedConfig, chosen: string): Promise<readonly OtherTarget[]> {
  const names = Object.keys(config.targets).filter((name) => name !== chosen);
  const opened = await Promise.allSettled(names.map(async (name) => await openTarget(config, name)));
  const others = opened.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  await Promise.all(others.map(async (target) => await target.close()));
  return others.map(({ name, capabilities }) => ({ name, capabilities }));
}
