/** Finds generated steps that lose values for which a better migration may exist. Pure. */
import type { Step } from "../../../steps/registry.ts";

/**
 * A column that is dropped beside a new one may have become it, with a type for which there is no cast. One sentence for
 * each.
 */
export function lostValues(steps: readonly Step[]): readonly string[] {
  return steps.flatMap((step) => {
    if (step.kind !== "dropColumn") return [];
    const { table, path } = step;
    const added = steps.flatMap((one) =>
      one.kind === "addColumn" && one.table === table && one.as === undefined ? [`${table}.${one.name}`] : [],
    );
    if (added.length === 0) return [];
    return [
      `the values of ${table}.${path} are lost: ${added.join(" and ")} begin${added.length === 1 ? "s" : ""} with nulls; if a new column replaces it, use renameColumn and retypeColumn with using instead, or fill the new column with backfillColumn before the drop`,
    ];
  });
}
