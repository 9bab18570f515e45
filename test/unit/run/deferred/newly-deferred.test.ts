import { ivfFlat } from "lance-migrate";
import { expect, test } from "vitest";
import type { Action } from "../../../../src/actions/model/action.ts";
import type { PlannedMigration } from "../../../../src/plan/make-plan.ts";
import { newlyDeferred } from "../../../../src/run/deferred/newly-deferred.ts";
import { columnsOf, int64, vector } from "../../../../src/schema/declare/type-builders.ts";
import { open } from "../../../../src/targets/lance/lance.ts";
import { temporaryFolder } from "../../../support/project.ts";

const type = vector(2).type;
const column = {
  table: "t",
  path: "v",
  type,
  keep: "v_old",
  key: "id",
  from: ["id"],
  with: "./embed.ts",
  version: "1",
};
const index = ivfFlat({ numPartitions: 2 });

test.each<[string, object, boolean]>([
  ["an index on vectors", { kind: "createIndex", table: "t", name: "at", index: { path: "v", ...index } }, true],
  ["an old version, which may have a deferred index", { kind: "restoreTable", table: "t", version: 1 }, true],
  ["a column with its index", { kind: "switchColumn", ...column, index: { name: "at", ...index } }, true],
  ["a column without an index", { kind: "switchColumn", ...column }, false],
  ["metadata", { kind: "setMetadata", table: "t", updates: [] }, false],
])("whether a table's deferred indexes are recorded after a migration that sets %s", async (_, action, isRecorded) => {
  const folder = temporaryFolder();
  const target = await open({ kind: "lance", uri: folder }, { name: "here", folder });
  await target.execute(
    { kind: "createTable", table: "t", columns: columnsOf({ id: int64(), v: vector(2) }) },
    undefined,
  );
  const create: Action = { kind: "createIndex", table: "t", name: "at", index: { path: "v", ...index } };
  await target.execute(create, await target.describeTable("t", true));
  const planned = { ran: [], actions: [{ action, commits: [], after: new Map() }] } as unknown as PlannedMigration;
  expect(await newlyDeferred(planned, target)).toBe(isRecorded ? "deferred: at of t" : undefined);
  await target.close();
});
