import { expect, test } from "vitest";
import { lacks } from "../support/needs.ts";
import { startStore, type Store } from "../support/stores/store.ts";
import { aProjectIn, writeFew } from "./scene.ts";
import { storeSuite } from "./suite.ts";

const store = await startStore("s3");

/** Replaces the newest manifest of a table with an object of length zero. */
async function emptyManifest({ endpoint }: Store, table: string): Promise<void> {
  const allow = async (requests: number) =>
    await fetch(`${endpoint}/moto-api/reset-auth`, { method: "POST", body: String(requests) });
  await allow(2);
  const headers = { authorization: "AWS4-HMAC-SHA256 Credential=any/20260101/us-east-1/s3/aws4_request" };
  const prefix = `${table.replace("s3://tables/", "")}.lance/_versions/`;
  const list = await fetch(`${endpoint}/tables?list-type=2&prefix=${encodeURIComponent(prefix)}`, { headers });
  // The number in the name of a newer one is lower.
  const [newest] = [...(await list.text()).matchAll(/<Key>(.*?)<\/Key>/g)].map(([, key]) => key!).toSorted();
  expect((await fetch(`${endpoint}/tables/${newest}`, { method: "PUT", headers, body: "" })).status).toBe(200);
  await allow(0);
}

test.skipIf(lacks("stores", typeof store === "string" ? store : undefined))(
  "an empty manifest in an object store is reported with its table, where it lies, and what to do",
  async () => {
    const project = aProjectIn(store as Store);
    writeFew(project);
    await project.run("up", "--to", "2");
    await emptyManifest(store as Store, `${project.uri}/swapped`);
    const problem = `its file ${project.uri}/swapped.lance/_versions/… (the newest there) seems to be empty or to end too early (look at its size first: `;
    for (const command of ["plan", "up", "verify", "repair"]) {
      const { code, stderr } = await project.migrate([command]);
      expect({ command, code }).toEqual({ command, code: 6 });
      expect(stderr).toContain(`table swapped of target store can't be read: ${problem}`);
      expect(stderr).not.toContain("reached");
    }
    const { code, stdout } = await project.migrate(["doctor"]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringContaining(problem) });
    await emptyManifest(store as Store, `${project.uri}/_migrations`);
    expect((await project.migrate(["status"])).stderr).toContain(`table _migrations of target store can't be read`);
  },
);

storeSuite("S3", store, "answers");
