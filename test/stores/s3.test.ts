import { expect, test } from "vitest";
import { lacks } from "../support/needs.ts";
import { startStore, type Store } from "../support/stores/store.ts";
import { aProjectIn, writeFew } from "./scene.ts";
import { storeSuite } from "./suite.ts";

const store = await startStore("s3");

/** Replaces the first object with this prefix by its first bytes. */
async function cutObject({ endpoint }: Store, address: string, bytes: number): Promise<void> {
  const allow = async (requests: number) =>
    await fetch(`${endpoint}/moto-api/reset-auth`, { method: "POST", body: String(requests) });
  await allow(3);
  const headers = { authorization: "AWS4-HMAC-SHA256 Credential=any/20260101/us-east-1/s3/aws4_request" };
  const prefix = address.replace("s3://tables/", "");
  const list = await fetch(`${endpoint}/tables?list-type=2&prefix=${encodeURIComponent(prefix)}`, { headers });
  const [first] = [...(await list.text()).matchAll(/<Key>(.*?)<\/Key>/g)].map(([, key]) => key!).toSorted();
  const object = `${endpoint}/tables/${first}`;
  const body = (await (await fetch(object, { headers })).arrayBuffer()).slice(0, bytes);
  expect((await fetch(object, { method: "PUT", headers, body })).status).toBe(200);
  await allow(0);
}

/** The number in the name of a newer manifest is lower. */
const emptyManifest = async (at: Store, table: string) => await cutObject(at, `${table}.lance/_versions/`, 0);

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

test.skipIf(lacks("stores", typeof store === "string" ? store : undefined))(
  "a step that needs a data file that was cut fails with what to do",
  async () => {
    const project = aProjectIn(store as Store);
    writeFew(project);
    await project.run("up");
    await cutObject(store as Store, `${project.uri}/documents.lance/data/`, 100);
    project.migration("0004_wider.ts", `m.retypeColumn("documents", "id", m.int64()),`);
    const { code, stderr } = await project.migrate(["up"]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining("a file of the table has 100 bytes, and"),
    });
    expect(stderr).toContain("it was cut, or the store has answered wrongly; put it back from a backup, or restore");
    expect((await project.migrate(["down"])).code).toBe(0);
  },
);

storeSuite("S3", store);
