/**
 * What a file, or whoever runs it, can accept:
 * - `lossy`: something is lost that was there, or may be.
 * - `irreversible`: and nothing that the target can do brings it back. Whoever accepts that accepts what is lossy too.
 */
export const acceptances = ["lossy", "irreversible"] as const;
export type Acceptance = (typeof acceptances)[number];
