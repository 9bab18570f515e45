/** The registry of targets. Each is loaded on first use. A new target is one file or folder and one line here. */
import type { Check } from "../checks/check.ts";
import type { NewTables } from "../schema/table-format.ts";
import type { OpenContext, Scratch, Target } from "./contract/target.ts";

interface TargetModule {
  /** Checks a target's configuration. */
  readonly options: Check;
  /** `options`: those that `options` has checked. */
  readonly open: (options: object, context: OpenContext) => Promise<Target>;
  /**
   * The options of one of several databases, and its place, which no other has. `own`: the options that it has instead of
   * those of the target. `folder`: the base of relative paths.
   */
  readonly inDatabase: (
    options: object,
    name: string,
    own: object,
    folder: string,
  ) => { readonly settings: object; readonly place: string } | { readonly problem: string };
}

const targets = {
  lance: () => import("./lance/lance.ts"),
  rest: () => import("./rest/rest.ts"),
};

type Targets = typeof targets;
type TargetKind = keyof Targets;
type Open<Kind extends TargetKind> = Awaited<ReturnType<Targets[Kind]>>["open"];

/** One target in the configuration. */
export type TargetConfig = { [Kind in TargetKind]: Parameters<Open<Kind>>[0] }[TargetKind];

export const targetKinds = Object.keys(targets) as readonly TargetKind[];

/** The module of a kind of target; undefined if there is no such kind. */
export async function loadTarget(kind: string): Promise<TargetModule | undefined> {
  if (!Object.hasOwn(targets, kind)) return undefined;
  // Each module opens only its own options, which TypeScript can't infer through the lookup.
  return (await targets[kind as TargetKind]()) as unknown as TargetModule;
}

/** A temporary database for trials. `newTables`: that of the target that it represents. */
export async function openScratch(newTables?: NewTables): Promise<Scratch> {
  return await (await import("./lance/scratch-database.ts")).openScratch(newTables);
}
