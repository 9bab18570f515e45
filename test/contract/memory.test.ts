import { describe } from "vitest";
import { memoryTarget } from "../simulate/target/memory-target.ts";
import { models, type Model } from "../simulate/target/carry.ts";
import { memoryTables } from "../simulate/target/memory-tables.ts";
import { describeRecords, describeTarget, justSeen, type Pair } from "./suite.ts";

// A simulation proves as much as its model is like the real targets: it passes the same suite.
function openPair(model: Model): Pair {
  const tables = memoryTables();
  const [one, other] = ["one", "other"].map((name) => memoryTarget({ name, model, tables }));
  return {
    one: one!,
    other: other!,
    found: async (table) => {
      const found = tables.get(table);
      return found && justSeen({ table: { columns: found.columns, metadata: found.metadata }, version: found.version });
    },
  };
}

describe.each(models)("in memory, as %s", (model) => {
  const open = async () => openPair(model);
  describeTarget("target", open);
  if (model !== "service") describeRecords("ledger", open);
});
