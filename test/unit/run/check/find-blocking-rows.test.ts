import { isMigrateError, MigrateError } from "../../../../src/errors/migrate-error.ts";
import { expect, test } from "vitest";
import { sinceOf, withBlockers } from "../../../../src/run/check/find-blocking-rows.ts";
import type { Target } from "../../../../src/targets/contract/target.ts";

/** What was written to a table, where asking for it throws this. */
async function writtenWhere(error: Error): Promise<unknown> {
  const since = async () => await Promise.reject(error);
  return await sinceOf({ versions: { since } } as unknown as Target, "t", 1, { until: undefined });
}

test("what was written since a version that is gone is unknown", async () => {
  expect(await writtenWhere(new Error("version 1 was cleaned up"))).toBeUndefined();
});

test("a target that can't be reached does not count as an unknown number of rows", async () => {
  const error = new MigrateError("ERR_TARGET_UNREACHABLE", { target: "local", problem: "no answer" });
  const failed = await writtenWhere(error).catch((thrown: unknown) => thrown);
  expect(isMigrateError(failed, "ERR_TARGET_UNREACHABLE")).toBe(true);
});

test("what else blocks a rollback blocks it without consent, and is named as accepted with it", async () => {
  const asked = async (acceptLoss: boolean) =>
    await withBlockers({ now: new Map(), migrations: [] }, {} as Target, { acceptLoss }, ["t was cleaned up"]);
  expect(await asked(false)).toMatchObject({ accepted: [], blocked: { problems: ["t was cleaned up"] } });
  const accepted = await asked(true);
  expect(accepted).toMatchObject({ accepted: ["t was cleaned up"] });
  expect(accepted.blocked).toBeUndefined();
});
