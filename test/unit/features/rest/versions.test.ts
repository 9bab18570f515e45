import { expect, onTestFinished, test } from "vitest";
import { openClient } from "../../../../src/features/rest/client.ts";
import { settingsOf } from "../../../../src/features/rest/options/options.ts";
import { open } from "../../../../src/features/rest/rest.ts";
import { versionedTable } from "../../../../src/features/rest/versions.ts";
import { serve } from "../../../rest/servers.ts";

/** A service whose list of versions is answered like this, and which has these tables. */
async function versionsAt(status: number, answer: object, tables: readonly string[] = ["t"]) {
  const { url } = await serve((response, { method }) => {
    const is = method === "GET" ? { status: 200, answer: { tables } } : { status, answer };
    response.writeHead(is.status, { "content-type": "application/json" }).end(JSON.stringify(is.answer));
  });
  const config = { kind: "rest", endpoint: url, apiKey: "a-key", dialect: "namespace" } as const;
  const target = await open(config, { name: "here", folder: "/" });
  onTestFinished(target.close);
  return target.versions!;
}

test("the time of a version is unknown if its table is gone, and an error if the service can't tell", async () => {
  const listed = { versions: [{ version: 2, timestamp_millis: 5 }] };
  expect(await (await versionsAt(200, listed)).time("t", 2)).toBe(5);
  expect(await (await versionsAt(200, listed)).time("t", 3)).toBeUndefined();
  expect(await (await versionsAt(404, { error: "no such table" }, [])).time("t", 2)).toBeUndefined();
  await expect((await versionsAt(401, {})).time("t", 2)).rejects.toMatchObject({ code: "ERR_CREDENTIALS" });
});

test("rows are asked for with all columns of their version, or with those that are chosen", async () => {
  const fields = [{ name: "id", nullable: true, type: { type: "int64" } }];
  const { url, seen } = await serve((response) => response.end(JSON.stringify({ version: 3, schema: { fields } })));
  const config = { kind: "rest", endpoint: url, apiKey: "a-key", dialect: "namespace" } as const;
  const client = openClient(settingsOf(config, { name: "here", folder: "/" }));
  const table = versionedTable(client, "t");
  await table.rows(3, "id > 1");
  await table.rows(3, "id > 1", [["key", "id"]]);
  const asked = seen.map(({ body }) => JSON.parse(String(body)) as object).filter((body) => "columns" in body);
  expect(asked).toMatchObject([
    { version: 3, filter: "id > 1", columns: ["id"] },
    { version: 3, filter: "id > 1", columns: { key: "id" } },
  ]);
  await client.close();
});
