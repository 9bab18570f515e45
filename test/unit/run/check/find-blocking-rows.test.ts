import { isMigrateError, MigrateError } from "../../../../src/errors/migrate-error.ts";
import type { Acceptance } from "../../../../src/migrations/acceptance.ts";
import { expect, test } from "vitest";
import { countBlockingRows, withBlockers } from "../../../../src/run/check/find-blocking-rows.ts";
import { rowsWrittenSince } from "../../../../src/run/check/foreign-changes.ts";
import type { Plan } from "../../../../src/plan/make-plan.ts";
import { columnsOf, int32 } from "../../../../src/schema/declare/type-builders.ts";
import type { Target } from "../../../../src/targets/contract/target.ts";

/** What was written to a table, where asking for it throws this. */
async function writtenWhere(error: Error): Promise<unknown> {
  const since = async () => await Promise.reject(error);
  return await rowsWrittenSince({ versions: { since } } as unknown as Target, "t", 1, { until: undefined });
}

test("what was written since a version that is gone is unknown", async () => {
  expect(await writtenWhere(new Error("version 1 was cleaned up"))).toBeUndefined();
});

test("a target that can't be reached does not count as an unknown number of rows", async () => {
  const error = new MigrateError("ERR_TARGET_UNREACHABLE", { target: "local", problem: "no answer" });
  const failed = await writtenWhere(error).catch((thrown: unknown) => thrown);
  expect(isMigrateError(failed, "ERR_TARGET_UNREACHABLE")).toBe(true);
});

/** The answer to a question with two queries, of which the first one fails. */
async function countedAfter(error: Error): Promise<unknown> {
  const countRows = async (_: string, predicate: string) => (predicate === "new" ? await Promise.reject(error) : 3);
  const question = {
    place: { file: "0002_more.ts", step: 1 },
    newer: 0,
    asks: ["new", "old"].map((predicate) => ({ table: "t", predicate })),
    allowed: 0,
    wasAsked: false,
    words: () => "",
    mayLose: false,
    isRefused: true,
  };
  return await countBlockingRows(question, { countRows, explain: () => "" } as unknown as Target);
}

test("where a column has its old name, the query with that name counts the rows", async () => {
  expect(await countedAfter(new Error("there is no column of that name"))).toEqual({ rows: 3, written: 3 });
});

test.each([
  new MigrateError("ERR_TARGET_UNREACHABLE", { target: "local", problem: "no answer" }),
  new MigrateError("ERR_DAMAGED", { target: "local", table: "t", path: "t", problem: "is empty", remedy: "move it" }),
])("$code while rows are counted is thrown as it is", async (error) => {
  await expect(countedAfter(error)).rejects.toMatchObject({ code: error.code });
});

test("what else blocks a rollback blocks it without consent, and is named as accepted with it", async () => {
  const asked = async (...accept: readonly Acceptance[]) =>
    await withBlockers({ now: new Map(), migrations: [] }, {} as Target, { accept }, ["t was cleaned up"]);
  expect(await asked()).toMatchObject({ accepted: [], blocked: { problems: ["t was cleaned up"] } });
  const accepted = await asked("lossy");
  expect(accepted).toMatchObject({ accepted: ["t was cleaned up"] });
  expect(accepted.blocked).toBeUndefined();
});

test("with consent a rollback drops values also where they can't be looked for, and says so", async () => {
  const place = { file: "0002_more.ts", step: 1, kind: "dropColumn" };
  const action = { kind: "dropColumns", table: "t", paths: ["n"] } as const;
  const blocker = { kind: "values", table: "t", path: "n" } as const;
  const planned = { actions: [{ place, action }], blockers: [{ place, blocker, at: 0 }], done: 0 };
  const now = new Map([["t", { columns: columnsOf({ id: int32(), n: int32() }) }]]);
  const plan = { now, migrations: [planned] } as unknown as Plan;
  const words = "values of t.n can't be looked for here, and the rollback drops them";
  expect(await withBlockers(plan, {} as Target, { accept: ["lossy"] })).toMatchObject({ accepted: [words] });
  expect((await withBlockers(plan, {} as Target, {})).blocked).toMatchObject({ problems: [words] });
});
