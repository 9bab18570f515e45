/** Errors about adopting tables that another program created or changed. */
import { count, failed, refused } from "./entry.ts";

export const adoptingErrors = {
  ERR_ADOPT_REFUSED: refused((d: { problem: string; hint: string }) => `nothing is written: ${d.problem}; ${d.hint}`),
  ERR_ADOPT_IMPOSSIBLE: refused(
    (d: { problems: readonly string[]; hint: string }) =>
      `no migration can declare this: ${d.problems.join("; ")}; ${d.hint}`,
  ),
  ERR_ADOPT_PENDING: refused(
    (d: { migration: string; target: string }) =>
      `${d.migration} is not applied on ${d.target}, so drift can't be determined; run migrate up first, or migrate baseline if its tables are there; where up is refused for the drift, put its file aside until this one is written`,
  ),
  ERR_PUSH_REFUSED: refused(
    (d: { verb?: "reset" | "run"; problem: string; hint: string }) =>
      `nothing is ${d.verb ?? "pushed"}: ${d.problem}; ${d.hint}`,
  ),
  ERR_PUSH_FAILED: failed(
    (d: { verb?: "reset"; text: string; problem: string; done: number; total: number }) =>
      `${d.text} failed: ${d.problem}; ${d.done} of ${count(d.total, "action")} done; fix the cause, and run migrate ${d.verb ?? "push"} again`,
  ),
  ERR_BASELINE_DIFFERS: refused(
    (d: { last: string; differences: readonly string[]; hint: string }) =>
      `nothing is marked: the tables are not as ${d.last} leaves them: ${d.differences.join("; ")}; ${d.hint}`,
  ),
  ERR_BASELINE_BEGUN: refused(
    (d: { migration: string }) =>
      `nothing is marked: ${d.migration} has begun, or may have, so marking it is not enough; run migrate up first`,
  ),
} as const;
