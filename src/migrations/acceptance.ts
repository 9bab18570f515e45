/**
 * The consent that a migration file, the configuration or a run can give:
 * - `lossy`: data that existed before is or may be lost.
 * - `irreversible`: data is or may be lost, and the target can't bring it back. Includes `lossy`.
 */
export const acceptances = ["lossy", "irreversible"] as const;
export type Acceptance = (typeof acceptances)[number];

/** Whether a rollback may lose what was written since the migration. Either word is consent to that. */
export function acceptsLoss({ accept = [] }: { readonly accept?: readonly Acceptance[] | undefined }): boolean {
  return accept.length > 0;
}
