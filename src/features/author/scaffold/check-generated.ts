/** Checks a generated migration: Node must load exactly the given steps from it, and TypeScript must accept it if ts-morph is there. */
import { firstLine, MigrateError } from "../../../errors/migrate-error.ts";
import { canonicalJson } from "../../../migrations/checksum.ts";
import { formerIn } from "../../../migrations/former-names.ts";
import { isUnfinished, loadMigration } from "../../../migrations/load.ts";
import type { Step } from "../../../steps/registry.ts";
import { missingOf } from "../../../engine/package/installed-packages.ts";
import { authoringPackages } from "./authoring-packages.ts";

interface GeneratedFile {
  /** Undefined for a template as it is, whose steps are yet to be written. */
  readonly steps?: readonly Step[] | undefined;
  readonly down?: readonly Step[] | undefined;
  /** The name that the file will have. */
  readonly file: string;
  readonly template: string;
  readonly folder: string;
  readonly history?: string | undefined;
}

/** Throws ERR_TEMPLATE_INVALID, and ERR_USAGE if tsconfig.json can't be used. */
export async function checkWritten(path: string, text: string, wanted: GeneratedFile): Promise<void> {
  const { steps, down, template, folder, history } = wanted;
  const invalid = (problem: string, cause?: unknown) =>
    new MigrateError("ERR_TEMPLATE_INVALID", { file: template, problem }, { cause });
  let problem: string | undefined;
  try {
    // Of templates only what is filled in is type-checked.
    problem = steps === undefined ? undefined : await typeProblemIn(path, text, folder, history);
  } catch (cause) {
    throw new MigrateError("ERR_USAGE", { problem: `tsconfig.json can't be used: ${firstLine(cause)}` }, { cause });
  }
  if (problem !== undefined) throw invalid(`makes a file that TypeScript refuses: ${problem}`);
  const file = {
    version: 0,
    name: "draft",
    file: wanted.file,
    path,
    textHash: String(process.hrtime.bigint()),
    ...formerIn(text),
  };
  const loaded = await loadMigration(file).catch((cause: unknown) => {
    if (steps === undefined && isUnfinished(cause)) return undefined;
    throw invalid(`makes a file that can't be loaded: ${(cause as Error).message}`, cause);
  });
  if (loaded === undefined || steps === undefined) return;
  const isSame =
    canonicalJson(loaded.steps) === canonicalJson(steps) &&
    (down === undefined || canonicalJson(loaded.down) === canonicalJson(down));
  if (!isSame) throw invalid("makes a file that has other steps than it was given");
}

/** The first TypeScript error in a TypeScript file. Without ts-morph, none is looked for. */
export async function typeProblemIn(
  path: string,
  text: string,
  folder: string,
  history?: string,
): Promise<string | undefined> {
  if (!path.endsWith("ts") || missingOf(authoringPackages).length > 0) return undefined;
  const { typeProblem } = await import("./type-problem.ts");
  return typeProblem(path, text, folder, history);
}
