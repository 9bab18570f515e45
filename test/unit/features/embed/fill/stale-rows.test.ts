import { expect, test } from "vitest";
import { StaleKeys } from "../../../../../src/features/embed/fill/stale-rows.ts";

const action = { kind: "fillColumn", table: "docs", path: "length", from: ["text"], key: "id", version: "1" } as const;
const columns = [{ name: "length", type: { kind: "int32" }, nullable: true }] as const;

test("rows for which the code failed are given once, however many there are", async () => {
  const failed = Array.from({ length: 100_001 }, (_, id) => ({ key: id, mark: "!now", now: "now", value: null }));
  const missing = { key: -1, mark: null, now: "now", value: null };
  let looks = 0;
  const batches = async function* () {
    looks++;
    yield failed.slice(0, 100_000);
    yield [...failed.slice(100_000), missing];
  };
  const keys = new StaleKeys({ ...action, with: "./lengths.ts" }, columns, { rows: { batches } as never });
  expect(await keys.next(200_000)).toHaveLength(100_000);
  expect(await keys.next(200_000)).toEqual([{ id: -1 }]);
  expect(looks).toBe(2);
});
