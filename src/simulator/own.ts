/** A project's own migrations, simulated as on the target that they are for. */
import { loadMigrations } from "../migrations/source.ts";
import { lint } from "../run/lint.ts";
import type { MigratorOptions } from "../run/options.ts";
import type { Model } from "../targets/memory/carry.ts";
import type { Capabilities } from "../targets/target.ts";
import type { Scenario } from "./scenario.ts";

/** Throws the first problem of migrations that could not run anyway. */
export async function ownScenario(options: MigratorOptions): Promise<Scenario> {
  const [problem] = (await lint(options)).problems;
  if (problem !== undefined) throw problem;
  const { migrations: source, target } = options;
  return { model: modelOf(target.capabilities), migrations: await loadMigrations(source, source.list()) };
}

/** The model that answers as a target does. */
export function modelOf({ describes, fences }: Pick<Capabilities, "describes" | "fences">): Model {
  if (!describes) return "service";
  return fences ? "embedded" : "namespace";
}
