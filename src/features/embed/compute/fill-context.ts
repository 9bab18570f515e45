/** What computing the values of a column and filling it need, and what comes of it. */
import type { RowAccess } from "../../../targets/contract/row-access.ts";
import type { Clock } from "../../../time/clock.ts";
import type { Target } from "../../../targets/contract/target.ts";
import type { Outrun } from "../../../run/events.ts";
import type { Phase, Phases } from "../../../run/phase.ts";
import type { Compute } from "./compute-all.ts";
import type { Shard } from "./shard.ts";

/** What computing values needs. */
export interface ComputeContext {
  readonly rows: RowAccess;
  /** If absent, the results of each call are kept at once. */
  readonly clock?: Clock | undefined;
  /** Starts the code before it is first called: a command may take long to start, and there may be nothing to compute. */
  readonly start: () => Promise<Compute>;
  /** A hash of the code; undefined if SQL computes the values, or if no code runs. */
  readonly codeHash?: string | undefined;
  /** Whether applications write to the column too. Then only rows that are stale are computed (`stale-rows.ts`). */
  readonly inUse?: boolean | undefined;
  /** The rows that are computed; all when absent. */
  readonly shard?: Shard | undefined;
  /** The name of the staging table, which only this fill uses. */
  readonly staging: string;
  /** Throws if this run may not write any more. Called before each write. */
  readonly mayWrite: () => Promise<void>;
  /** How many rows of the table fulfil a predicate; undefined if the target can't count. */
  readonly count?: ((where: string) => Promise<number | undefined>) | undefined;
  /** Called after each append. `total`: how many rows are computed in all, if that is known. */
  readonly progress: (computed: number, total: number | undefined) => void;
}

export interface FillContext extends ComputeContext {
  readonly phases: Phases;
  /** What computing the rows is called; "computing" when absent. */
  readonly phase?: Phase | undefined;
  /** The staging tables of earlier fills, whose values are merged first. */
  readonly staged: readonly string[];
  /** Tables of values that were computed before the column was there, which are merged first. */
  readonly results?: readonly string[] | undefined;
  /** Whether rows for which the code failed stay as they are, because it has just been tried. */
  readonly keepsFailed?: boolean | undefined;
  /** Why the first row failed that has no value of `results`. */
  readonly failure?: string | undefined;
  /** Aborted if the run is interrupted. */
  readonly signal?: AbortSignal | undefined;
  readonly verdict: Target["verdict"];
  /** Reports how often writes of others have come first. */
  readonly outrun: (how: Outrun) => void;
  /** Waits for writes that applications began before the column took another one's place; then rows are looked for again. */
  readonly pause?: (() => Promise<void>) | undefined;
}

export interface Filled {
  /** How many rows have no value of their present sources, and why the first of them; undefined if there are none. */
  readonly problem: { readonly rows: number; readonly text: string } | undefined;
  /** How many versions of the table the merges have made. */
  readonly merges: number;
}
