/** The documents of commands that work on tables or on the ledger. */
import { planDocumentShape } from "../../plan/document/plan-document.ts";
import { runEvent } from "./events.ts";

export const plan = planDocumentShape;
export const up = runEvent;
export const down = runEvent;
