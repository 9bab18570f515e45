/**
 * What each command prints with --json: the shape of every line. The commands import only the types, so that they don't
 * load zod. Published as docs/json.schema.json and docs/json.md.
 */
import { z } from "zod";
import { planDocumentShape } from "../../plan/assess/plan-document.ts";
import * as apply from "./apply.ts";
import { databaseEvents, prepareEvent, runEvent } from "./events.ts";
import * as inspect from "./inspect.ts";
import { report } from "./report.ts";
import { problem, text } from "./shared.ts";
import * as write from "./write.ts";

export const errorDocumentShape = z
  .strictObject({ event: z.literal("error"), ...problem.shape })
  .meta({ id: "error", description: "The command failed. Every command may print it, as its last line." });

export const documents = {
  init: write.init,
  new: write.newMigration,
  generate: write.generate,
  push: write.push,
  types: write.types,
  contract: write.contract,
  build: write.build,
  plan: planDocumentShape,
  up: z.union([runEvent, databaseEvents(apply.upResult)]),
  down: runEvent,
  rehearse: apply.rehearse,
  prepare: z.union([runEvent, prepareEvent]),
  prune: apply.prune,
  status: z.union([inspect.statusDocumentShape, databaseEvents(inspect.statusDocumentShape)]),
  history: inspect.history,
  blame: inspect.blame,
  verify: inspect.verify,
  lint: inspect.lint,
  doctor: inspect.doctor,
  report,
  rebase: write.rebase,
  squash: write.squash,
  pull: write.pull,
  baseline: apply.baseline,
  resolve: apply.resolve,
  repair: apply.repair,
  serve: apply.serve,
  completion: z.strictObject({ shell: text, script: text }),
  error: errorDocumentShape,
} satisfies Readonly<Record<string, z.ZodType>>;

export type DocumentName = keyof typeof documents;

/** What a command may pass on to be printed, by its name. */
export type Documents = { readonly [Name in DocumentName]: Printed<z.output<(typeof documents)[Name]>> };

/** What became of one database of several. */
export type DatabaseResult = Printed<z.output<typeof apply.upResult> | z.output<typeof inspect.statusDocumentShape>>;

/** With everything readonly. */
export type Printed<Value> = Value extends object ? { readonly [Key in keyof Value]: Printed<Value[Key]> } : Value;
