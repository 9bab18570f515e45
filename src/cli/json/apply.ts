/** The documents of commands that work on tables or on the ledger. */
import { z } from "zod";
import { planDocumentShape } from "../../plan/assess/plan-document.ts";
import { databaseEvents, runEvent } from "./events.ts";
import { deferral, whole } from "./shared.ts";

/** What `up` does with one database of several. */
export const upResult = z.strictObject({
  applied: whole.describe("How many migrations ran."),
  total: whole.describe("How many are applied now."),
  deferred: z.array(deferral).optional().describe("Absent if no index is deferred."),
});

export const plan = planDocumentShape;
export const up = z.union([runEvent, databaseEvents(upResult)]);
export const down = runEvent;
