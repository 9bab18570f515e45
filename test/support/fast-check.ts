/** fast-check that draws the same cases in every `npm test`, so that it says of a commit always the same; with MIGRATE_LONG=1 it draws others each time. */
import { configureGlobal } from "fast-check";
import { isLong } from "./rounds.ts";

if (!isLong) configureGlobal({ seed: 1 });

export * from "fast-check";
