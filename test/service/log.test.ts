/** The log has one line per request, with the status that was sent, whatever refused it. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../support/project.ts";
import { send, sendBytes, type RawAnswer } from "./raw.ts";
import { apiKey, arrow, aService, startCommand } from "./served.ts";

const rows = arrow.tableToIPC(new arrow.Table({ id: arrow.vectorFromArray([1], new arrow.Int32()) }), "stream");
const asArrow = { "x-api-key": apiKey, "content-type": "application/vnd.apache.arrow.stream" };
const asJson = { "x-api-key": apiKey, "content-type": "application/json" };
const date = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z /;

const head = (path: string, ...lines: readonly string[]) =>
  [`POST ${path} HTTP/1.1`, "host: x", `x-api-key: ${apiKey}`, ...lines, "", ""].join("\r\n");
const typed = "content-type: application/json";

test.each<{ what: string; bytes: string; status: number; path: string; method?: string; reason?: string }>([
  {
    what: "a slow head",
    bytes: "POST /v1/table/t/drop HTTP/1.1\r\nhost:",
    status: 408,
    method: "-",
    path: "-",
    reason: "the request did not arrive in time",
  },
  {
    what: "a slow body",
    bytes: `${head("/v1/table/t/drop?a=secret", typed, "content-length: 9", "x-request-id: mine-1")}{`,
    status: 408,
    path: "/v1/table/t/drop",
  },
  {
    what: "a chunk that is none",
    bytes: `${head("/v1/table/t/drop", typed, "transfer-encoding: chunked")}zzz\r\n`,
    status: 400,
    path: "/v1/table/t/drop",
  },
  {
    what: "a head that is too large",
    bytes: head("/v1/table/t/drop?a=secret", `x-big: ${"x".repeat(30_000)}`),
    status: 431,
    path: "/v1/table/t/drop",
    reason: "the headers are too large",
  },
  {
    what: "an expectation",
    bytes: head("/v1/table/t/drop?a=secret", "expect: the impossible", "connection: close"),
    status: 417,
    path: "/v1/table/t/drop",
    reason: "the header expect may only be 100-continue",
  },
  {
    what: "no HTTP",
    bytes: "nonsense\r\n\r\n",
    status: 400,
    method: "-",
    path: "-",
    reason: "this is no HTTP request",
  },
  ...["HTTP/9.9", "HTTP/1.1 more"].map((end) => ({
    what: `a first line that ends with ${end}`,
    bytes: `POST /v1/table/t/drop ${end}\r\n\r\n`,
    status: 400,
    method: "-",
    path: "-",
    reason: "this is no HTTP request",
  })),
  {
    what: "a path that is not well-formed",
    bytes: head("/v1/table/%E0%A4%A/drop", typed, "content-length: 0", "connection: close"),
    status: 400,
    path: "/v1/table/%E0%A4%A/drop",
  },
])("of $what", async ({ bytes, status, path, method = "POST", reason }) => {
  const { service, log } = await aService({ requestTimeout: 1_000 });
  const answer = await sendBytes(service.url, bytes);
  const { instance } = JSON.parse(answer.body.toString()) as { instance: string };
  const id = answer.headers["x-request-id"];
  expect({ status: answer.status, instance, id }).toEqual({ status, instance: path, id: expect.any(String) });
  await expect.poll(() => log.length).toBe(1);
  await sleep(200);
  const end = reason === undefined ? "" : ` ${reason}`;
  expect(log.map((line) => line.replace(date, "").replace(/ \d+ms /, " - "))).toEqual([
    `${method} ${path} ${status} - ${String(id)}${end}`,
  ]);
  expect(log[0]).toMatch(date);
});

test.each(["--quiet", "--json"])("with %s it has the answers 5xx and their reasons alone", async (flag) => {
  const folder = temporaryFolder();
  const service = await startCommand(folder, [flag]);
  const url = flag === "--json" ? (JSON.parse(service.firstLine) as { url: string }).url : service.url;
  onTestFinished(async () => void (await service.close()));
  const ask = async (path: string, body: object): Promise<RawAnswer> =>
    await send(url, { path, headers: asJson, body: JSON.stringify(body) });
  expect((await send(url, { path: "/v1/tables/t", headers: asArrow, body: rows })).status).toBe(200);
  expect((await ask("/v1/table/t/count_rows", {})).status).toBe(200);
  expect((await ask("/v1/table/none/count_rows", {})).status).toBe(404);
  expect((await ask("/v1/table/t/clone", {})).status).toBe(501);
  const crash = await ask("/v1/table/t/count_rows", { predicate: "array_length(array_repeat(1, 1000000000000)) > 0" });
  expect(crash.status).toBe(500);
  const lines = () => service.log.join("").trimEnd().split("\n");
  await expect.poll(() => lines().length).toBe(2);
  expect(lines().map((line) => line.replace(date, ""))).toEqual([
    expect.stringMatching(/^POST \/v1\/table\/t\/clone 501 \d+ms \S+ this service has no cloning of tables$/),
    expect.stringMatching(/^POST \/v1\/table\/t\/count_rows 500 \d+ms \S+ the worker ended with SIG\w+$/),
  ]);
});
