/** The doctor before a real service that a proxy makes worse. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { MigrateError } from "../../src/errors.ts";
import { doctor, type Finding } from "../../src/run/doctor.ts";
import { open } from "../../src/targets/rest/rest.ts";
import type { Target } from "../../src/targets/target.ts";
import { aService, apiKey } from "../support/service.ts";
import { lancedb } from "../support/tables.ts";

type Dialect = "service" | "namespace";
const dialects = ["service", "namespace"] as const;

async function targetAt(endpoint: string, dialect: Dialect): Promise<Target> {
  const target = await open({ kind: "rest", endpoint, apiKey, dialect }, { name: "test", folder: "/" });
  onTestFinished(target.close);
  return target;
}

/** A proxy: what the service is asked goes through `answer`, which may pass it on or answer it itself. */
async function aWorseService(
  url: string,
  answer: (path: string, pass: () => Promise<{ status: number; text: string }>) => Promise<object | undefined>,
): Promise<string> {
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", async () => {
      const { method = "", url: path = "" } = incoming;
      const type = incoming.headers["content-type"] ?? "application/json";
      const body = method === "GET" ? null : Buffer.concat(chunks);
      const ask = () => fetch(url + path, { method, body, headers: { "content-type": type, "x-api-key": apiKey } });
      const pass = async () => {
        const { status, ...passed } = await ask().then(async (one) => ({ status: one.status, text: await one.text() }));
        return { status, ...passed };
      };
      const own = await answer(path, pass);
      if (own !== undefined) {
        outgoing.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(own));
        return;
      }
      const passed = await ask();
      const answered = { "content-type": passed.headers.get("content-type") ?? "application/json" };
      outgoing.writeHead(passed.status, answered).end(Buffer.from(await passed.arrayBuffer()));
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const missing = (findings: readonly Finding[]) => findings.filter(({ found }) => !found).map(({ what }) => what);

test.each(dialects)("a service that answers every alter well and does nothing is unfit, in the dialect %s", async (dialect) => {
  const service = await aService();
  const url = await aWorseService(service.url, async (path) =>
    path.includes("alter_columns") ? { version: 2 } : undefined,
  );
  const { fit, findings } = await doctor(await targetAt(url, dialect), "_migrations");
  expect(fit).toBe(false);
  expect(missing(findings)).toContain("renames a column");
});

test("a service that does not say how many rows a merge has inserted is fit", async () => {
  const service = await aService();
  const url = await aWorseService(service.url, async (path, pass) => {
    if (!path.includes("merge_insert")) return undefined;
    const { status, text } = await pass();
    expect([status, text]).toEqual([200, expect.stringContaining("num_inserted_rows")]);
    return { version: 2 };
  });
  const { fit, findings } = await doctor(await targetAt(url, "namespace"), "_migrations");
  expect({ fit, missing: missing(findings) }).toEqual({ fit: true, missing: [] });
});

test.each(dialects)("what stops the doctor leaves no scratch table unnamed, in the dialect %s", async (dialect) => {
  const service = await aService();
  const target = await targetAt(service.url, dialect);
  const gone = new MigrateError("ERR_TARGET_UNREACHABLE", { target: "test", problem: "connection reset" });
  let alters = 0;
  const execute: Target["execute"] = async (action, seen) => {
    if (action.kind === "alterColumns" && ++alters === 3) throw gone;
    return await target.execute(action, seen);
  };
  const named: string[] = [];
  const checkup = doctor({ ...target, execute }, "_migrations", (news) => {
    if ("leftBehind" in news) named.push(...news.leftBehind);
  });
  await expect(checkup).rejects.toBe(gone);
  const left = await (await lancedb.connect(service.data)).tableNames();
  expect(left.toSorted()).toEqual(named.toSorted());
  // One dialect has a way to drop a table, the other has not.
  expect(left.length > 0).toBe(dialect === "service");
});
