/**
 * From the strongest promise to none:
 *
 * - `exact`: other actions restore the schema and every value.
 * - `checked`: the same, unless rows block it. If rows can be counted, that is checked before anything is changed.
 * - `restore`: the table's version from before the migration is restored. Rows written since are lost, or reinserted if
 *   they were only added.
 * - `none`: this target cannot roll it back.
 */
export const rollbackClasses = ["exact", "checked", "restore", "none"] as const;

export type RollbackClass = (typeof rollbackClasses)[number];
