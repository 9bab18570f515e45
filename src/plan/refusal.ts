import type { Acceptance } from "../migrations/acceptance.ts";
import type { RollbackClass } from "./rollback/rollback-class.ts";

/** Why an action may not run. */
export type Refusal =
  | { readonly reason: "consent"; readonly consent: Acceptance; readonly loss: string }
  | { readonly reason: "forbidden"; readonly class: RollbackClass; readonly problem: string }
  /** It is known that the target would refuse it, on the tables and rows as they are now. */
  | { readonly reason: "failure"; readonly problem: string }
  /** With all that its migration rewrites before it; null where nobody can tell. */
  | { readonly reason: "rewrite"; readonly bytes: number | null; readonly limit: number };
