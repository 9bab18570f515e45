import type { Acceptance } from "../migrations/acceptance.ts";
import type { RollbackClass } from "./rollback/rollback-classes.ts";

/** Why an action may not run. */
export type Refusal =
  | { readonly reason: "consent"; readonly consent: Acceptance; readonly loss: string }
  | { readonly reason: "forbidden"; readonly class: RollbackClass; readonly problem: string }
  /** The target would refuse it on the current tables and rows. */
  | { readonly reason: "failure"; readonly problem: string }
  /** `bytes` includes what the migration rewrites before this action; null if unknown. */
  | { readonly reason: "rewrite"; readonly bytes: number | null; readonly limit: number }
  /** Releases of applications that still run would fail. `sequence`: what does the same without breaking them. */
  | {
      readonly reason: "contract";
      readonly broken: readonly BrokenContract[];
      readonly sequence: readonly string[];
    };

export interface BrokenContract {
  readonly application: string;
  readonly release: string;
  /** What the release does, and why that fails then, as the rest of a sentence. */
  readonly problem: string;
}
