/**
 * What each command prints with --json: the shape of every line, by command, with `error`, which any of them may print.
 * Published as docs/reference/json.schema.json and docs/reference/json.md. Commands import the types of shapes alone, so that none loads zod
 * for them.
 */
import { z } from "zod";
import * as apply from "../../cli/json/apply.ts";
import * as inspect from "../../cli/json/inspect.ts";
import { errorDocumentShape } from "../../cli/json/shared.ts";
import type { Feature } from "../../cli/command/feature.ts";
import * as features from "../../features/index.ts";
import { commandNames } from "./registry.ts";

const core: Readonly<Record<string, z.ZodType>> = {
  plan: apply.plan,
  up: apply.up,
  down: apply.down,
  status: inspect.status,
  history: inspect.history,
  verify: inspect.verify,
  error: errorDocumentShape,
};

const ofFeatures = await Promise.all(
  Object.entries<Feature>(features)
    .filter(([, { commands, flags }]) => commands !== undefined || flags !== undefined)
    .map(async ([name]) => (await import(`../../features/${name}/json.ts`)) as typeof core),
);

/** A feature adds its own shape to those of a command that it extends. A union with a name stays whole. */
function shapeOf(name: string): z.ZodType {
  const shapes = [core, ...ofFeatures].flatMap((some) => some[name] ?? []);
  return shapes.length === 1
    ? shapes[0]!
    : z.union(shapes.flatMap((one) => (one instanceof z.ZodUnion && one.meta() === undefined ? one.options : one)));
}

export const documents: typeof core = Object.fromEntries(
  [...commandNames, "error"].map((name) => [name, shapeOf(name)]),
);
