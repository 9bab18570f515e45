/** `after`, with which TypeScript checks migrations while they are written. */
import type { DatabaseAfter } from "../schema/typed/versions.ts";
import type { History } from "../schema/typed/history.ts";
import type { Step } from "./registry.ts";
import type { StepOn } from "./define/define-step.ts";

/** An existing version, if `migrate types` has written `history.d.ts`. */
type VersionArgument<Version extends string> = [keyof History] extends [never]
  ? Version
  : string extends Version
    ? Version
    : Version extends keyof History
      ? Version
      : `history.d.ts has no migration ${Version}; migrate types rewrites it`;

// The same symbol in every copy of the package.
const mark = Symbol.for("lance-migrate.after");

/**
 * The steps of a migration that comes after the migration `version`, "0000" for the first. If `migrate types` has
 * written `history.d.ts`, TypeScript checks the first 16 steps against the tables as the preceding steps leave them.
 *
 * @example
 * export const up = after("0007", renameColumn("documents", "title", "headline"));
 */
export function after<
  Version extends string,
  Db1 = unknown,
  Db2 = unknown,
  Db3 = unknown,
  Db4 = unknown,
  Db5 = unknown,
  Db6 = unknown,
  Db7 = unknown,
  Db8 = unknown,
  Db9 = unknown,
  Db10 = unknown,
  Db11 = unknown,
  Db12 = unknown,
  Db13 = unknown,
  Db14 = unknown,
  Db15 = unknown,
  Db16 = unknown,
>(
  version: VersionArgument<Version>,
  step1?: StepOn<DatabaseAfter<Version>, Db1>,
  step2?: StepOn<Db1, Db2>,
  step3?: StepOn<Db2, Db3>,
  step4?: StepOn<Db3, Db4>,
  step5?: StepOn<Db4, Db5>,
  step6?: StepOn<Db5, Db6>,
  step7?: StepOn<Db6, Db7>,
  step8?: StepOn<Db7, Db8>,
  step9?: StepOn<Db8, Db9>,
  step10?: StepOn<Db9, Db10>,
  step11?: StepOn<Db10, Db11>,
  step12?: StepOn<Db11, Db12>,
  step13?: StepOn<Db12, Db13>,
  step14?: StepOn<Db13, Db14>,
  step15?: StepOn<Db14, Db15>,
  step16?: StepOn<Db15, Db16>,
  ...more: readonly Step[]
): readonly Step[];
export function after(version: string, ...steps: readonly unknown[]): readonly Step[] {
  // The steps are checked when the migration is loaded, like those of a plain array.
  return Object.defineProperty([...steps] as readonly Step[], mark, { value: version });
}

/** The version that a list of steps comes after; undefined if the list was not made by `after`. */
export function versionBefore(steps: unknown): string | undefined {
  return (steps as { readonly [mark]?: string } | null | undefined)?.[mark];
}
