import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Action } from "../../../../src/actions/model/action.ts";
import { columnsOf, int32 } from "../../../../src/schema/declare/type-builders.ts";
import { open } from "../../../../src/targets/lance/lance.ts";
import { serve } from "../../../rest/servers.ts";
import { temporaryFolder } from "../../../support/project.ts";

const answerSeconds = 2;

/** An object store with one file, which takes longer to delete it than a read may take. */
const store = await serve((response, { path }) => {
  const deletes = path.includes("?delete");
  const listed = path.includes("prefix=t%2Fa.lance")
    ? `<Contents><Key>t/a.lance/x</Key><LastModified>2026-01-01T00:00:00Z</LastModified><Size>1</Size></Contents>`
    : "";
  const answer = deletes
    ? "<DeleteResult><Deleted><Key>t/a.lance/x</Key></Deleted></DeleteResult>"
    : `<ListBucketResult><Name>b</Name><IsTruncated>false</IsTruncated>${listed}</ListBucketResult>`;
  void sleep(deletes ? 2 * answerSeconds * 1000 : 0).then(() =>
    response.writeHead(200, { "content-type": "application/xml" }).end(answer),
  );
});

test("a table in an object store may take longer to drop than to read", async () => {
  const storageOptions = {
    region: "us-east-1",
    allow_http: "true",
    endpoint: store.url,
    aws_access_key_id: "AKIAEXAMPLE",
    aws_secret_access_key: "of-nobody",
  };
  const given = { kind: "lance", uri: "s3://b/t", storageOptions, answerSeconds } as const;
  const target = await open(given, { name: "store", folder: "/" });
  await target.discard!("a");
  expect(store.seen.map(({ path }) => path)).toContain("/b?delete");
  await target.close();
});

test("a table that is not there is only created", async () => {
  const folder = temporaryFolder();
  const target = await open({ kind: "lance", uri: folder }, { name: "local", folder });
  const columns = columnsOf({ id: int32() });
  const drop: Action = { kind: "dropColumns", table: "t", paths: ["id"] };
  await expect(target.execute(drop, await target.describeTable("t"))).rejects.toThrow("there is no table t");
  await target.execute({ kind: "createTable", table: "t", columns }, await target.describeTable("t"));
  expect(await target.listTables()).toEqual(["t"]);
  await target.close();
});
