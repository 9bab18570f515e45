/** The doctor before a real service that a proxy makes worse. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { MigrateError } from "../../src/errors/migrate-error.ts";
import { doctor, type TargetCheck } from "../../src/features/repair/doctor.ts";
import { open } from "../../src/features/rest/rest.ts";
import type { Target } from "../../src/targets/contract/target.ts";
import { casesInTurn } from "../support/rounds.ts";
import { aService, apiKey } from "../support/service.ts";
import { lancedb } from "../support/tables.ts";

const inTurn = casesInTurn();

type Dialect = "service" | "namespace";
const dialects = ["service", "namespace"] as const;

async function targetAt(endpoint: string, dialect: Dialect): Promise<Target> {
  const target = await open({ kind: "rest", endpoint, apiKey, dialect }, { name: "test", folder: "/" });
  onTestFinished(target.close);
  return target;
}

interface Worse {
  /** Whether the service never hears of it. */
  readonly kept: boolean;
  /** What is answered in the service's place. */
  readonly answer: object;
}

/** A proxy that answers some requests in its own way, and passes the others on. */
async function aWorseService(url: string, worsen: (path: string, body: Buffer) => Worse | undefined): Promise<string> {
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", async () => {
      const { method = "", url: path = "" } = incoming;
      const body = Buffer.concat(chunks);
      const worse = worsen(path, body);
      const type = incoming.headers["content-type"] ?? "application/json";
      const headers = { "content-type": type, "x-api-key": apiKey };
      const passed =
        worse?.kept === true
          ? undefined
          : await fetch(url + path, { method, headers, body: method === "GET" ? null : body });
      const status = passed?.status ?? 200;
      outgoing.writeHead(status, { "content-type": passed?.headers.get("content-type") ?? "application/json" });
      const bytes = passed === undefined ? Buffer.alloc(0) : Buffer.from(await passed.arrayBuffer());
      outgoing.end(worse === undefined || status !== 200 ? bytes : JSON.stringify(worse.answer));
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const missing = (findings: readonly TargetCheck[]) => findings.filter(({ found }) => !found).map(({ what }) => what);

const isQuestion = (body: Buffer) =>
  JSON.parse(body.toString("utf8")).alterations.every(
    ({ path, rename }: { path: string; rename?: string }) => rename === path.split(".").at(-1),
  );

test.each(inTurn(dialects))(
  "a service that answers every alter well and does nothing is unfit, in the dialect %s",
  async (dialect) => {
    const service = await aService();
    const url = await aWorseService(service.url, (path) =>
      path.includes("alter_columns") ? { kept: true, answer: { version: 2 } } : undefined,
    );
    const { fit, findings } = await doctor(await targetAt(url, dialect), "_migrations");
    expect(fit).toBe(false);
    // Where nothing can be looked at, it is the yes to a column that is not there that tells.
    expect(missing(findings)).toContain(
      dialect === "namespace" ? "renames a column" : "refuses to rename a column that is not there",
    );
  },
);

test.each(inTurn(dialects))(
  "a service that answers well, does nothing and knows its columns is unfit, in the dialect %s",
  async (dialect) => {
    const service = await aService();
    const url = await aWorseService(service.url, (path, body) =>
      path.includes("alter_columns") && !isQuestion(body) ? { kept: true, answer: { version: 2 } } : undefined,
    );
    const { fit, findings } = await doctor(await targetAt(url, dialect), "_migrations");
    expect(fit).toBe(false);
    expect(missing(findings)).toContain("renames a column");
  },
);

test("a service that does not say how many rows a merge has inserted is fit", async () => {
  const service = await aService();
  let merges = 0;
  const url = await aWorseService(service.url, (path) =>
    path.includes("merge_insert") && ++merges > 0 ? { kept: false, answer: { version: 2 } } : undefined,
  );
  const { fit, findings } = await doctor(await targetAt(url, "namespace"), "_migrations");
  expect({ fit, missing: missing(findings) }).toEqual({ fit: true, missing: [] });
  expect(merges).toBeGreaterThan(0);
});

test.each(inTurn(dialects))(
  "what stops the doctor leaves no scratch table unnamed, in the dialect %s",
  async (dialect) => {
    const service = await aService();
    const target = await targetAt(service.url, dialect);
    const gone = new MigrateError("ERR_TARGET_UNREACHABLE", { target: "test", problem: "connection reset" });
    let alters = 0;
    const execute: Target["execute"] = async (action, seen) => {
      if (action.kind === "alterColumns" && ++alters >= 3) throw gone;
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
  },
);

test.each(["in turn", "at once"])("a service whose lists sometimes lack a new table is unfit (%s)", async (when) => {
  const service = await aService();
  let lists = 0;
  const stale = when === "in turn" ? 3 : 8;
  const url = await aWorseService(service.url, (path) =>
    /^\/v1\/tables$/.test(path) && ++lists === stale ? { kept: true, answer: { tables: [] } } : undefined,
  );
  const { fit, findings } = await doctor(await targetAt(url, "service"), "_migrations");
  const finding = findings.find(({ what }) => what.startsWith("lists the table"));
  expect({ fit, finding }).toMatchObject({
    fit: false,
    finding: { found: false, detail: "1 of 10 lists lack it, and the ledger is kept by such lists" },
  });
});
