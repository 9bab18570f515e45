import { someOf } from "../../errors/migrate-error.ts";
import type { CheckedRelease } from "../../plan/checked-contracts.ts";

/** "search 1.4.0, api 2": the releases that a plan was checked against. */
export function releaseNames(releases: readonly Pick<CheckedRelease, "application" | "release">[]): string {
  const names = new Set(releases.map(({ application, release }) => `${application} ${release}`));
  return names.size === 0 ? "none" : someOf([...names]);
}
