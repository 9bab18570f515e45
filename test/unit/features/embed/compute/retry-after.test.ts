import { expect, test } from "vitest";
import { Late, pauseBefore } from "../../../../../src/features/embed/compute/retry-after.ts";

const headers = (value: string) => new Headers({ "retry-after": value });
const network = new TypeError("fetch failed", { cause: Object.assign(new Error("refused"), { code: "ECONNREFUSED" }) });

test.each<[what: string, error: unknown, pause: number | undefined]>([
  ["too many requests", { status: 429 }, 0],
  ["a server's error", { statusCode: 503 }, 0],
  ["a client's error", { status: 400, headers: headers("2") }, undefined],
  ["headers in capitals", { status: 503, headers: { "Retry-After": "1" } }, 1_000],
  ["a timeout of its own", new DOMException("too late", "TimeoutError"), 0],
  ["seconds to wait", { status: 429, headers: headers("2") }, 2_000],
  ["plain headers", { status: 429, headers: { "retry-after": "0.5" } }, 500],
  ["its own seconds to wait", { retryAfter: 3 }, 3_000],
  ["a time in the past", { retryAfter: "Wed, 25 Nov 2020 20:00:00 GMT" }, 0],
  ["no time", { retryAfter: "soon" }, 0],
  ["a day", { retryAfter: 86_400 }, 3_600_000],
  ["an error of the network", { code: "ECONNRESET" }, 0],
  ["an error of fetch", network, 0],
  ["a call that took too long", new Late(60), 0],
  ["any other error", new TypeError("x is not a function"), undefined],
  ["an error that causes itself", Object.assign(new Error("odd"), { cause: undefined }), undefined],
  ["no error", undefined, undefined],
  ["a text", "too bad", undefined],
])("%s", (_, error, pause) => {
  expect(pauseBefore(error)).toBe(pause);
});
