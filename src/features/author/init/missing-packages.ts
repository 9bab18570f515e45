/** The packages that a project still has to install. */
import { join } from "node:path";
import { missingEngine } from "../../../engine/package/find-engine.ts";
import { findPackage, usePackagesOf } from "../../../engine/package/installed-packages.ts";
import type { InitChoice } from "./files.ts";
import type { ProjectSurvey } from "./survey.ts";

export interface MissingPackages {
  /** With their versions, as they are installed. */
  readonly packages: readonly string[];
  /** Whether the first migration can't be written without them. */
  readonly isBlocked: boolean;
}

export function missingPackages({ folder, config }: ProjectSurvey, { place, first }: InitChoice): MissingPackages {
  usePackagesOf(folder);
  const kinds = config === undefined ? [place.kind] : Object.values(config.targets).map(({ kind }) => kind);
  // What is written imports this package.
  const own = findPackage("lance-migrate", join(folder, "package.json")) === undefined ? ["lance-migrate"] : [];
  const engine = kinds.includes("lance") ? missingEngine() : [];
  const needed = [...own, ...(first === "pull" ? engine : [])];
  return { packages: [...own, ...engine], isBlocked: first !== undefined && needed.length > 0 };
}
