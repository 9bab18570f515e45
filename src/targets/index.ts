/** The registry of targets. Each is loaded on first use. A new target is one file or folder and one line here. */
import type { z } from "zod";
import type { NewTables } from "../schema/table-format.ts";
import type { OpenContext, Scratch, Target } from "./contract/target.ts";

interface TargetModule<Options extends z.ZodType> {
  /** The schema of a target's configuration, with its `kind`. */
  readonly options: Options;
  readonly open: (options: z.output<Options>, context: OpenContext) => Promise<Target>;
}

const targets = {
  lance: () => import("./lance/lance.ts"),
  rest: () => import("./rest/rest.ts"),
};

type Targets = typeof targets;
type TargetKind = keyof Targets;
type Options<Kind extends TargetKind> = Awaited<ReturnType<Targets[Kind]>>["options"];

/** One target in the configuration. */
export type TargetConfig = { [Kind in TargetKind]: z.input<Options<Kind>> }[TargetKind];

export const targetKinds = Object.keys(targets) as readonly TargetKind[];

/** The module of a kind of target; undefined if there is no such kind. */
export async function loadTarget(kind: string): Promise<TargetModule<z.ZodType> | undefined> {
  if (!Object.hasOwn(targets, kind)) return undefined;
  // Each module opens only its own options, which TypeScript can't infer through the lookup.
  return (await targets[kind as TargetKind]()) as unknown as TargetModule<z.ZodType>;
}

/** A temporary database for trials. `newTables`: that of the target that it represents. */
export async function openScratch(newTables?: NewTables): Promise<Scratch> {
  return await (await import("./lance/scratch-database.ts")).openScratch(newTables);
}
