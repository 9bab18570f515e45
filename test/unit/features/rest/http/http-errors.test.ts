import { describe, expect, test } from "vitest";
import { MigrateError } from "../../../../../src/errors/migrate-error.ts";
import {
  answerProblem,
  connectionProblem,
  explain,
  isWorthAnotherRead,
  pauseAskedFor,
  strangeAnswer,
} from "../../../../../src/features/rest/http/http-errors.ts";
import { verdictOf } from "../../../../../src/features/rest/service-verdict.ts";
import { settingsOf } from "../../../../../src/features/rest/options/options.ts";

const apiKey = 'sk-5e"cr+et/7==\\q&<x>';
const settings = settingsOf(
  { kind: "rest", endpoint: "https://lance.example.com/base", apiKey },
  {
    name: "cloud",
    folder: "/",
  },
);
const request = { endpoint: "POST /v1/tables/documents?mode=create" };
const answer = (status: number, body: string | object = "", headers: Record<string, string> = {}) => ({
  status,
  headers,
  body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)),
});
const problem = (status: number, body?: string | object, headers?: Record<string, string>) =>
  answerProblem(answer(status, body, headers), request, settings);

describe("an answer's words are", () => {
  test.each<readonly [string, string | object, string]>([
    ["its error", { error: "no such column a" }, "no such column a"],
    ["its message", { message: "no such column a" }, "no such column a"],
    ["its detail", { detail: "no such column a" }, "no such column a"],
    ["its error before its detail", { code: 12, error: "no column a", detail: "at line 3" }, "no column a"],
    ["all of it where the error is no text", { error: { reason: "a" } }, '{"error":{"reason":"a"}}'],
    ["its text", "no such column a", "no such column a"],
    ["one line of many", "no such column a\n\n   at engine.rs:3\r\n\tagain", "no such column a at engine.rs:3 again"],
    ["nothing", "", "no message"],
    ["nothing but spaces", " \r\n\t ", "no message"],
    ["an empty error", { error: "" }, "no message"],
    ["null", "null", "null"],
    ["a list", "[1]", "[1]"],
    ["a number", "7", "7"],
    ["without what moves a terminal's cursor", "a\u001b[2J\u001b[31mb\u0007c\u009bd\u0000e", "a [2J [31mb c d e"],
  ])("%s", (_, body, words) => {
    expect(problem(400, body).details).toMatchObject({ problem: words });
  });

  test("its first 500 characters", () => {
    expect(problem(400, "a".repeat(10_000)).details).toMatchObject({ problem: "a".repeat(500) });
  });
});

test("an answer is a sentence with the target, the request without its query, the status and the words", () => {
  expect(problem(422, { error: "no such column a" }).message).toBe(
    "target cloud answered POST /v1/tables/documents with 422: no such column a",
  );
});

describe("the code of an answer with", () => {
  test.each([
    [400, "ERR_ANSWER"],
    [401, "ERR_CREDENTIALS"],
    [403, "ERR_CREDENTIALS"],
    [404, "ERR_ANSWER"],
    [405, "ERR_ANSWER"],
    [409, "ERR_ANSWER"],
    [429, "ERR_ANSWER"],
    [500, "ERR_ANSWER"],
    [501, "ERR_ANSWER"],
    [502, "ERR_TARGET_UNREACHABLE"],
    [503, "ERR_ANSWER"],
    [504, "ERR_TARGET_UNREACHABLE"],
    [302, "ERR_ANSWER"],
  ] as const)("%i is %s, which ends with 6", (status, code) => {
    expect(problem(status)).toMatchObject({ code, outcome: "unreachable" });
  });
});

describe("what an answer means to a change:", () => {
  test.each<readonly [number, string | object, Record<string, string>, object]>([
    [400, "no such column", {}, { kind: "refused" }],
    [401, "", {}, { kind: "refused" }],
    [403, "", {}, { kind: "refused" }],
    [404, "", {}, { kind: "refused" }],
    [405, "", {}, { kind: "refused" }],
    [406, "", {}, { kind: "refused" }],
    [413, "", {}, { kind: "refused" }],
    [422, "", {}, { kind: "refused" }],
    [301, "", { location: "https://other" }, { kind: "refused" }],
    [307, "", { location: "https://other" }, { kind: "refused" }],
    [409, "concurrent", {}, { kind: "conflict" }],
    [409, { code: 14, error: "Concurrent modification" }, {}, { kind: "conflict" }],
    [409, "table a already exists", {}, { kind: "refused" }],
    [409, { code: 5, error: "there is one" }, {}, { kind: "refused" }],
    [400, "Table 'a' already exists", {}, { kind: "refused" }],
    [400, "Retryable commit conflict for version 3. Please retry", {}, { kind: "conflict" }],
    [500, "lance error: Retryable commit conflict for version 3", {}, { kind: "conflict" }],
    [500, "This transaction was preempted by concurrent transaction", {}, { kind: "conflict" }],
    [
      500,
      "Commit conflict for version 1645: Failed to commit the transaction after 20 retries.",
      {},
      { kind: "conflict" },
    ],
    [500, "Too many concurrent writers. Attempted 19 times, but failed on retry_timeout", {}, { kind: "conflict" }],
    [429, "", {}, { kind: "throttled", pause: undefined }],
    [429, "", { "retry-after": "2" }, { kind: "throttled", pause: 2000 }],
    [500, "", {}, { kind: "unanswered" }],
    [501, "", {}, { kind: "unanswered" }],
    [502, "", {}, { kind: "unanswered" }],
    [503, "", { "retry-after": "3" }, { kind: "unanswered", pause: 3000 }],
    [504, "", {}, { kind: "unanswered" }],
    [599, "", {}, { kind: "unanswered" }],
  ])("%i with %j and %j is %j", (status, body, headers, verdict) => {
    expect(verdictOf(problem(status, body, headers))).toMatchObject(verdict);
  });

  test("a success that nobody understands is none", () => {
    const strange = strangeAnswer(answer(200, "<html>"), request, settings, "answer to alter_columns");
    expect(verdictOf(strange)).toMatchObject({ kind: "unanswered" });
  });

  test("no answer is none", () => {
    const error = new MigrateError("ERR_TARGET_UNREACHABLE", { target: "cloud", problem: "cut" });
    expect(verdictOf(error)).toMatchObject({ kind: "unanswered" });
  });
});

test("a success that nobody understands is a sentence that asks for the right address", () => {
  const hint = "is endpoint the address of a table service?";
  expect(strangeAnswer(answer(200, "<html>hello</html>"), request, settings, "list of tables", hint).message).toBe(
    "target cloud answered POST /v1/tables/documents with 200: that is no list of tables: <html>hello</html>; " +
      "is endpoint the address of a table service?",
  );
});

describe("a redirect", () => {
  test.each<readonly [Record<string, string>, string]>([
    [{ location: "https://other.example.com/v1/tables" }, "it redirects to https://other.example.com/v1/tables; put"],
    [
      { location: "https://other.example.com/login?next=/v1&key=a#b" },
      "it redirects to https://other.example.com/login;",
    ],
    [{ location: "/login" }, "it redirects to /login;"],
    [{}, "it redirects; put the address that it really has into endpoint"],
    [
      { location: `https://${apiKey}@other.example.com/${encodeURIComponent(apiKey)}` },
      "https://***@other.example.com/***",
    ],
  ])("with %j says where it leads, without the query", (headers, says) => {
    const { message } = problem(302, "<html>moved</html>", headers);
    expect(message).toContain(says);
    expect(message).not.toContain("<html>");
  });
});

/** The forms in which servers write what they were sent. */
const inJson = JSON.stringify(apiKey).slice(1, -1);
const unicode = (characters: RegExp) =>
  inJson.replace(characters, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
const echoes: readonly (readonly [string, string])[] = [
  ["plain", `key ${apiKey} is unknown`],
  ["twice", `${apiKey}${apiKey}`],
  ["URL-encoded", `key=${encodeURIComponent(apiKey)}`],
  ["URL-encoded in small letters", `key=${encodeURIComponent(apiKey).replace(/%../g, (code) => code.toLowerCase())}`],
  ["as a form", new URLSearchParams({ key: apiKey }).toString()],
  ["base64", `Basic ${Buffer.from(apiKey).toString("base64")}`],
  ["base64 without its end", Buffer.from(apiKey).toString("base64").replace(/=+$/, "")],
  ["base64 for URLs", Buffer.from(apiKey).toString("base64url")],
  ["in JSON as a message", JSON.stringify({ error: `key ${apiKey} is unknown` })],
  ["in JSON as something else", JSON.stringify({ headers: { "x-api-key": apiKey } })],
  ["in JSON inside JSON", JSON.stringify({ error: JSON.stringify({ key: apiKey }) })],
  ["in JSON with escaped slashes, as PHP writes it", `{"error":"key ${inJson.replaceAll("/", "\\/")} is unknown"}`],
  ["in JSON with < > &, as Go writes it", `{"error":"key ${unicode(/[<>&]/g)} is unknown"}`],
  ["in JSON with escaped + and quotes, as .NET writes it", `{"error":"key ${unicode(/[<>&+']/g)} is unknown"}`],
  ["in JSON with escaped =, as Gson writes it", `{"error":"key ${unicode(/[<>&=']/g)} is unknown"}`],
  [
    "in JSON with every letter escaped",
    `{"error":"key ${[...apiKey].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`).join("")} is unknown"}`,
  ],
  ["at the 500th character", `${"x".repeat(490)}${apiKey}`],
];

describe("an answer that repeats the key", () => {
  test.each(echoes)("%s is shown without it", (_, body) => {
    for (const error of [
      problem(400, body),
      problem(401, body),
      problem(502, body),
      strangeAnswer(answer(200, body), request, settings, "list of tables"),
    ]) {
      // The folder of the repository may have any name.
      const stack = error.stack!.replaceAll(/file:\S+/g, "");
      const shown = JSON.stringify([error.message, stack, error.details]);
      const decoded = [error.message, decodeURIComponent(error.message.replace(/%(?![0-9a-f]{2})/gi, "%25"))];
      for (const text of [shown, ...decoded]) {
        expect(text).not.toContain(apiKey);
        expect(text).not.toContain(inJson);
        expect(text).not.toContain(encodeURIComponent(apiKey));
        expect(text).not.toContain(Buffer.from(apiKey).toString("base64").slice(0, 24));
        expect(text).not.toContain(Buffer.from(apiKey).toString("base64url").slice(0, 24));
        expect(text).not.toContain("5e");
      }
    }
  });
});

describe("a pause that is asked for", () => {
  test.each<readonly [string | undefined, number | undefined]>([
    ["0", 0],
    ["2", 2_000],
    ["59", 59_000],
    ["3600", 60_000],
    ["99999999999999999999", 60_000],
    ["Thu, 01 Jan 1970 00:00:00 GMT", 0],
    ["Fri, 31 Dec 9999 23:59:59 GMT", 60_000],
    ["soon", undefined],
    ["", undefined],
    [undefined, undefined],
  ])("as %j is %s ms", (value, pause) => {
    expect(pauseAskedFor({ headers: value === undefined ? {} : { "retry-after": value } })).toBe(pause);
  });

  test("until a moment lasts until then", () => {
    const soon = new Date(Date.now() + 5_000).toUTCString();
    const pause = pauseAskedFor({ headers: { "retry-after": soon } });
    expect(pause).toBeGreaterThan(1_000);
    expect(pause).toBeLessThanOrEqual(5_000);
  });
});

test.each([
  [200, false],
  [400, false],
  [404, false],
  [429, true],
  [501, false],
  [502, true],
  [503, true],
  [504, true],
])("whether a read is tried again after %i: %s", (status, again) => {
  expect(isWorthAnotherRead(status)).toBe(again);
});

describe("a connection that failed with", () => {
  const limit = 5_000;
  const error = (code: string, message = "") => Object.assign(new Error(message), { code });
  test.each<readonly [string, unknown, string]>([
    ["ECONNREFUSED", error("ECONNREFUSED"), "nothing listens at lance.example.com; check endpoint"],
    [
      "ECONNREFUSED for each of a host's addresses",
      Object.assign(new AggregateError([error("ECONNREFUSED"), error("ECONNREFUSED")]), { code: "ECONNREFUSED" }),
      "nothing listens at lance.example.com",
    ],
    ["ENOTFOUND", error("ENOTFOUND"), "there is no host named lance.example.com; check endpoint"],
    ["UND_ERR_CONNECT_TIMEOUT", error("UND_ERR_CONNECT_TIMEOUT"), "did not take the connection within 10 s"],
    ["UND_ERR_HEADERS_TIMEOUT", error("UND_ERR_HEADERS_TIMEOUT"), "gave no whole answer within 5 s"],
    ["UND_ERR_BODY_TIMEOUT", error("UND_ERR_BODY_TIMEOUT"), "gave no whole answer within 5 s"],
    ["a timeout", new DOMException("timed out", "TimeoutError"), "gave no whole answer within 5 s"],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", error("DEPTH_ZERO_SELF_SIGNED_CERT"), "is not trusted"],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", error("UNABLE_TO_VERIFY_LEAF_SIGNATURE"), "is not trusted"],
    ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", error("UNABLE_TO_GET_ISSUER_CERT_LOCALLY"), "is not trusted"],
    ["ERR_SSL_WRONG_VERSION_NUMBER", error("ERR_SSL_WRONG_VERSION_NUMBER"), "does not speak TLS"],
    ["UND_ERR_SOCKET", error("UND_ERR_SOCKET"), "cut the connection before its answer was complete"],
    ["ECONNRESET", error("ECONNRESET"), "cut the connection before its answer was complete"],
    ["words that hold the key", new Error(`invalid ${apiKey} header\nat x`), "lance.example.com: invalid *** header"],
    ["a cause inside", new Error("outer", { cause: error("ECONNREFUSED") }), "nothing listens at"],
    ["no words", new Error(""), "lance.example.com"],
  ])("%s is told in words", (_, thrown, says) => {
    const told = connectionProblem(thrown, settings, limit);
    expect(told).toContain(says);
    expect(told).not.toContain(apiKey);
    expect(told).not.toContain("\n");
  });

  // A certificate that has run out is no matter of whom to trust.
  test.each([
    ["CERT_HAS_EXPIRED", /expired|has run out/],
    ["ERR_TLS_CERT_ALTNAME_INVALID", /another name|not for|is for/],
  ])("%s says more than that it is not trusted", (code, says) => {
    expect(connectionProblem(error(code), settings, limit)).toMatch(says);
  });
});

test("what a service said is explained without its name", () => {
  expect(explain(problem(400, { error: "no such column a" }))).toBe("no such column a (400)");
  expect(explain(new Error("first\nsecond"))).toBe("first");
});
