/** The registry of targets, to which features add others. Each is loaded on first use. A new one is one file or folder and one line here. */
import type { Check } from "../checks/check.ts";
import type { NewTables } from "../schema/table-format.ts";
import type { OpenContext, Scratch, Target } from "./contract/target.ts";

export interface TargetModule {
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
};

/** The settings of a folder or an object store. */
export type LanceTarget = Extract<TargetConfig, { readonly kind: "lance" }>;

/** How targets are loaded, by their kinds. */
export type TargetLoaders = Readonly<Record<string, () => Promise<unknown>>>;

type Targets = typeof targets;
type TargetKind = keyof Targets;
type Open<Kind extends TargetKind> = Awaited<ReturnType<Targets[Kind]>>["open"];

/** One target in the configuration. Features add to it: src/migrator/config.ts. */
export type TargetConfig = { [Kind in TargetKind]: Parameters<Open<Kind>>[0] }[TargetKind];

/** `added`: those of features. */
export function targetKinds(added: TargetLoaders): readonly string[] {
  return Object.keys({ ...targets, ...added });
}

/** The module of a kind of target; undefined if there is no such kind. `added`: those of features. */
export async function loadTarget(kind: string, added: TargetLoaders = {}): Promise<TargetModule | undefined> {
  const loaders: TargetLoaders = { ...targets, ...added };
  // Each module opens only its own options, which TypeScript can't infer through the lookup.
  return Object.hasOwn(loaders, kind) ? ((await loaders[kind]!()) as TargetModule) : undefined;
}

/** A temporary database for trials. `newTables`: that of the target that it represents. */
export async function openScratch(newTables?: NewTables): Promise<Scratch> {
  return await (await import("./lance/scratch-database.ts")).openScratch(newTables);
}
