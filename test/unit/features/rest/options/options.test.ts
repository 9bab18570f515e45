import { rootCertificates } from "node:tls";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { loadConfig } from "../../../../../src/session/load-config.ts";
import { addedToConfig } from "../../../../../src/session/session-feature.ts";
import { openTarget } from "../../../../../src/session/open-target.ts";
import { isMigrateError } from "../../../../../src/errors/migrate-error.ts";
import { dialects, operations } from "../../../../../src/features/rest/options/dialects.ts";
import { rest } from "../../../../../src/features/rest/feature.ts";
import { options, settingsOf } from "../../../../../src/features/rest/options/options.ts";

const home = mkdtempSync(join(tmpdir(), "lance-migrate-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const variables = ["MIGRATE_ENDPOINT", "MIGRATE_API_KEY", "MIGRATE_DATABASE"] as const;
beforeEach(() => variables.forEach((name) => vi.stubEnv(name, undefined)));
afterEach(() => vi.unstubAllEnvs());

const endpoint = "https://lance.example.com";
const apiKey = "sk-5ecret";

function settings(given: object) {
  const config = { kind: "rest", ...given } as const;
  const [problem] = options(config);
  if (problem !== undefined) throw new Error(`${problem.path.join(".")} ${problem.message}`);
  return settingsOf(config, { name: "cloud", folder: home });
}

/** The sentence of what `openTarget` throws for a target with these settings, as the command would print it. */
async function sentenceFor(given: object): Promise<string> {
  const config = await loadConfig(home, undefined, undefined, addedToConfig([rest]));
  try {
    await openTarget({ ...config, file: "migrate.config.ts", targets: { cloud: { kind: "rest", ...given } } }, "cloud");
    // What is missing is said at the first request: migrations can be checked without.
    const { missing } = settings(given);
    if (missing !== undefined) throw missing;
  } catch (error) {
    if (!isMigrateError(error, "ERR_CONFIG_INVALID")) throw error;
    expect(error.outcome).toBe("usage");
    return error.message;
  }
  throw new Error("was taken");
}

describe("what is not said", () => {
  test("is the documented service, Lance's words and patience for a retype", () => {
    const { headers, dialect, types, connectTimeout, answerTimeout, ca, base } = settings({ endpoint, apiKey });
    expect({ headers, types, connectTimeout, answerTimeout, ca, base }).toEqual({
      base: endpoint,
      headers: { "x-api-key": apiKey },
      types: "lance",
      connectTimeout: 10_000,
      answerTimeout: 300_000,
      ca: undefined,
    });
    expect(dialect.endpoints).toEqual({
      list: "GET /v1/tables",
      create: "POST /v1/tables/{name}",
      alter: "POST /v1/table/{name}/alter_columns",
    });
  });

  test("is taken from the environment", () => {
    vi.stubEnv("MIGRATE_ENDPOINT", " https://other.example.com/v1/ ");
    vi.stubEnv("MIGRATE_API_KEY", "from the environment");
    vi.stubEnv("MIGRATE_DATABASE", "their-database");
    expect(settings({})).toMatchObject({
      base: "https://other.example.com",
      headers: { "x-api-key": "from the environment", "x-service-database": "their-database" },
      secrets: ["from the environment"],
    });
  });

  test("is taken from the environment only where the configuration says nothing", () => {
    for (const name of variables) vi.stubEnv(name, "https://not.example.com");
    const { base, headers } = settings({ endpoint, apiKey, database: "mine" });
    expect({ base, headers }).toEqual({
      base: endpoint,
      headers: { "x-api-key": apiKey, "x-service-database": "mine" },
    });
  });

  test("in an empty variable is not said", async () => {
    vi.stubEnv("MIGRATE_DATABASE", "");
    expect(settings({ endpoint, apiKey }).headers).toEqual({ "x-api-key": apiKey });
    vi.stubEnv("MIGRATE_API_KEY", "");
    vi.stubEnv("MIGRATE_ENDPOINT", "");
    expect(await sentenceFor({ endpoint })).toBe(
      "target cloud: has no apiKey; set the environment variable MIGRATE_API_KEY",
    );
    expect(await sentenceFor({ apiKey })).toBe(
      "target cloud: has no endpoint; set endpoint or the environment variable MIGRATE_ENDPOINT",
    );
  });
});

describe("the dialect namespace", () => {
  test("has the header and the endpoints of LanceDB's own clients", () => {
    const { headers, dialect } = settings({ endpoint, apiKey, database: "mine", dialect: "namespace" });
    expect(headers).toEqual({ "x-api-key": apiKey, "x-service-database": "mine", "x-lancedb-database": "mine" });
    expect(dialect.endpoints).toMatchObject({
      list: "GET /v1/table/",
      create: expect.stringMatching(/^POST \/v1\/table\/\{name\}\/create\/(\?|$)/),
      alter: "POST /v1/table/{name}/alter_columns/",
      describe: expect.stringMatching(/^POST \/v1\/table\/\{name\}\/describe\/(\?|$)/),
      query: "POST /v1/table/{name}/query/",
      count: "POST /v1/table/{name}/count_rows/",
      merge: "POST /v1/table/{name}/merge_insert/",
    });
  });
});

describe("what differs", () => {
  test("is taken for single endpoints and for the names of headers", () => {
    const { headers, dialect } = settings({
      endpoint,
      apiKey,
      database: "mine",
      keyHeader: "x-lance-key",
      databaseHeader: "x-lance-database",
      headers: { "x-tenant": "a b c" },
      endpoints: { list: "POST /lance/list", alter: "PATCH /lance/{name}?async=false" },
    });
    expect(headers).toEqual({ "x-tenant": "a b c", "x-lance-key": apiKey, "x-lance-database": "mine" });
    expect(dialect.endpoints).toEqual({
      list: "POST /lance/list",
      create: "POST /v1/tables/{name}",
      alter: "PATCH /lance/{name}?async=false",
    });
  });

  test("in a header is as secret as the key", () => {
    const { secrets } = settings({ endpoint, apiKey, headers: { authorization: "Bearer of-a-token", "x-a": "abc" } });
    expect(secrets).toContain(apiKey);
    expect(secrets).toContain("Bearer of-a-token");
    expect(secrets).toContain("of-a-token");
    expect(secrets).not.toContain("abc");
  });

  // Two lines of one header are two values to a server.
  test.each([
    [{ headers: { "X-API-Key": "another" } }, "x-api-key"],
    [{ headers: { "X-Service-Database": "another" }, database: "mine" }, "x-service-database"],
  ])("in the letter case of a header does not make two of it: %j", (more, name) => {
    let names: readonly string[];
    try {
      names = Object.keys(settings({ endpoint, apiKey, ...more }).headers);
    } catch {
      return; // refused is as well
    }
    expect(names.filter((one) => one.toLowerCase() === name)).toHaveLength(1);
  });

  test("in seconds is taken in milliseconds that a timer takes", () => {
    for (const seconds of [0.1, 0.3, 1.005, 4.35, 16.1, 32.3, 64.1, 1.2345, 86_400]) {
      const { answerTimeout, connectTimeout } = settings({
        endpoint,
        apiKey,
        answerSeconds: seconds,
        connectSeconds: seconds,
      });
      expect({ seconds, answerTimeout }).toEqual({ seconds, answerTimeout: Math.round(answerTimeout) });
      expect({ seconds, connectTimeout }).toEqual({ seconds, connectTimeout: Math.round(connectTimeout) });
    }
  });

  test("in the file of certificates is read from beside the configuration", () => {
    writeFileSync(join(home, "ca.pem"), rootCertificates[0]!);
    expect(settings({ endpoint, apiKey, ca: "ca.pem" }).ca).toContain("BEGIN CERTIFICATE");
    expect(settings({ endpoint, apiKey, ca: join(home, "ca.pem") }).ca).toContain("BEGIN CERTIFICATE");
  });
});

const keyRule = /must be a key of plain characters, without line breaks or spaces around it$/;
const badKeys: readonly (readonly [string, string])[] = [
  ["a line break at its end", "sk-5ecret\n"],
  ["a line break inside", "sk-5ecret\nx-admin: true"],
  ["a carriage return and a line break", "sk-5ecret\r\nx-admin: true"],
  ["a carriage return", "sk-5ecret\r"],
  ["a tab", "sk-5ecret\tx"],
  ["a null character", "sk-5ecret\0"],
  ["an escape character", "\u001b[31msk-5ecret"],
  ["a delete character", "sk-5ecret\u007f"],
  ["a space before", " sk-5ecret"],
  ["a space behind", "sk-5ecret "],
  ["nothing but spaces", "   "],
  ["an umlaut", "sk-5ecretä"],
  ["another alphabet", "sk-5ecretключ"],
  ["an emoji", "sk-5ecret🔑"],
  ["a curly quotation mark", "“sk-5ecret”"],
  ["a space that does not break", "sk-5ecret\u00a0x"],
  ["a byte order mark", "\ufeffsk-5ecret"],
  ["a zero-width space", "sk-5ecret\u200b"],
  ["half a character", "sk-5ecret\ud83d"],
];

describe("a key is refused and not repeated when it holds", () => {
  test.each(badKeys)("%s in the configuration", async (_, key) => {
    const sentence = await sentenceFor({ endpoint, apiKey: key });
    expect(sentence).toMatch(keyRule);
    expect(sentence).toContain("migrate.config.ts: targets.cloud: apiKey must be");
    expect(sentence).not.toContain("5ecret");
  });

  // No environment holds a null character.
  test.each(badKeys.filter(([, key]) => !key.includes("\0") && !key.includes("\ud83d")))(
    "%s in the environment",
    async (_, key) => {
      vi.stubEnv("MIGRATE_API_KEY", key);
      const sentence = await sentenceFor({ endpoint });
      expect(sentence).toMatch(keyRule);
      expect(sentence).toContain("MIGRATE_API_KEY");
      expect(sentence).not.toContain("5ecret");
    },
  );

  test.each(badKeys)("%s for a database or a header's text", async (_, text) => {
    for (const given of [{ database: text }, { headers: { "x-token": text } }]) {
      const sentence = await sentenceFor({ endpoint, apiKey, ...given });
      expect(sentence).toMatch(/must (be a name|hold texts) of plain characters/);
      expect(sentence).not.toContain("5ecret");
    }
  });
});

test.each(["k", 'a"b\\c', "!#$%&'()*+,-./:;<=>?@[]^_`{|}~", "a key with spaces", "=".repeat(4000)])(
  "the key %j is taken as it is",
  (key) => {
    expect(settings({ endpoint, apiKey: key }).headers["x-api-key"]).toBe(key);
  },
);

const prose = /^migrate\.config\.ts: targets\.cloud: /;

describe("refused is", () => {
  test.each<readonly [string, object, string | RegExp]>([
    ["an empty endpoint", { endpoint: "" }, "target cloud: has no endpoint"],
    ["a wrong endpoint", { endpoint: "s3://x" }, "target cloud: endpoint must begin with"],
    ["an endpoint that is a number", { endpoint: 7 }, "endpoint must be an address"],
    ["an endpoint that is a URL", { endpoint: new URL("https://example.com") }, "endpoint must be an address"],
    ["an endpoint that is null", { endpoint: null }, "endpoint must be an address"],
    ["an empty key", { apiKey: "" }, "apiKey must be a key"],
    ["a key that is a number", { apiKey: 12345 }, "apiKey must be a key"],
    ["a key that is null", { apiKey: null }, "apiKey must be a key"],
    ["an empty database", { database: "" }, "database must be a name"],
    ["a database that is an object", { database: {} }, "database must be a name"],
    ["an unknown dialect", { dialect: "lance" }, 'dialect must be "service" or "namespace"'],
    ["a dialect that every object has", { dialect: "toString" }, 'dialect must be "service" or "namespace"'],
    ["a dialect in capitals", { dialect: "Service" }, 'dialect must be "service" or "namespace"'],
    ["an empty region", { region: "" }, "region must be a region"],
    ["a region with a dot", { region: "evil.example" }, "region must be a region such as us-east-1"],
    ["a region with a slash", { region: "a/b" }, "region must be a region such as us-east-1"],
    ["unknown types", { types: "rust" }, 'types must be "lance", "arrow" or "string"'],
    ["endpoints as a text", { endpoints: "GET /v1" }, "endpoints must be an object of endpoints"],
    ["an endpoint of an unknown operation", { endpoints: { clone: "POST /v1/{name}/clone" } }, /endpoints.*clone/],
    ["an endpoint without a method", { endpoints: { list: "/v1/tables" } }, "endpoints.list must be a method"],
    ["an endpoint without a path", { endpoints: { list: "GET" } }, "endpoints.list must be a method and a path"],
    ["an endpoint with a host", { endpoints: { list: "GET https://x/v1" } }, "endpoints.list must be a method"],
    ["an endpoint with a space", { endpoints: { list: "GET /v1/my tables" } }, "endpoints.list must be a method"],
    ["an endpoint with a line break", { endpoints: { list: "GET /v1\r\nx: y" } }, "endpoints.list must be a method"],
    ["an endpoint that deletes", { endpoints: { alter: "DELETE /v1/{name}" } }, "endpoints.alter must be a method"],
    ["an endpoint in small letters", { endpoints: { list: "get /v1/tables" } }, "endpoints.list must be a method"],
    ["an endpoint with letters no path has", { endpoints: { list: "GET /v1/täbles" } }, /endpoints\.list must be /],
    ["an endpoint with a #", { endpoints: { list: "GET /v1/tables#all" } }, /endpoints\.list must be /],
    ["an endpoint that is no text", { endpoints: { list: 7 } }, /endpoints\.list must be /],
    ["an endpoint of a table without its place", { endpoints: { create: "POST /v1/tables" } }, /\{name\}/],
    [
      "an endpoint that the dialect does not use",
      { endpoints: { describe: "POST /v1/table/{name}/describe" } },
      "target cloud: endpoints.describe is not an endpoint of the dialect service",
    ],
    ["a key header with a space", { keyHeader: "x api key" }, "keyHeader must be the name of a header"],
    ["a key header with a colon", { keyHeader: "x-api-key:" }, "keyHeader must be the name of a header"],
    ["an empty key header", { keyHeader: "" }, "keyHeader must be the name of a header"],
    ["a database header with a line break", { databaseHeader: "a\nb" }, "databaseHeader must be the name of a header"],
    ["headers as a list", { headers: ["a: b"] }, "headers must be an object of texts"],
    ["a header that is a number", { headers: { "x-a": 1 } }, "headers must hold texts of plain characters"],
    ["an empty header", { headers: { "x-a": "" } }, "headers must hold texts of plain characters"],
    [
      "a header with an impossible name",
      { headers: { "x a": "b" } },
      /headers holds something that is no name of a header/,
    ],
    ["a header with an empty name", { headers: { "": "b" } }, /headers holds something that is no name of a header/],
    ["ca without a name", { ca: "" }, "ca must be a file"],
    ["ca that is missing", { ca: "absent.pem" }, "target cloud: ca can't be read: ENOENT"],
    ["ca that is a folder", { ca: "." }, "target cloud: ca can't be read: EISDIR"],
    ["ca that is no PEM", { ca: "text.pem" }, "target cloud: ca is no file of PEM certificates"],
    ["ca that is a key", { ca: "key.pem" }, "target cloud: ca is no file of PEM certificates"],
    ["ca that is garbage between the right lines", { ca: "garbage.pem" }, "target cloud: ca "],
    [
      "no time to connect",
      { connectSeconds: 0 },
      "connectSeconds must be a number of seconds from 0.1 to 86400 (a day)",
    ],
    [
      "time to connect as a text",
      { connectSeconds: "10" },
      "connectSeconds must be a number of seconds from 0.1 to 86400 (a day)",
    ],
    [
      "time to answer below zero",
      { answerSeconds: -1 },
      "answerSeconds must be a number of seconds from 0.1 to 86400 (a day)",
    ],
    [
      "time to answer that is not a number",
      { answerSeconds: Number.NaN },
      "answerSeconds must be a number of seconds from 0.1 to 86400 (a day)",
    ],
    ["time to answer without end", { answerSeconds: Infinity }, /answerSeconds must be /],
    [
      "time to answer of two days",
      { answerSeconds: 172_800 },
      "answerSeconds must be a number of seconds from 0.1 to 86400 (a day)",
    ],
    ["an unknown setting", { timeout: 3 }, "there is no setting timeout"],
    ["a mistyped setting", { apikey: "a" }, "there is no setting apikey; did you mean apiKey?"],
    ["a setting of another target", { uri: "a" }, "there is no setting uri"],
    ["the key as it is called elsewhere", { api_key: "a" }, "there is no setting api_key; did you mean apiKey?"],
  ])("%s", async (_, given, says) => {
    writeFileSync(join(home, "text.pem"), "not a certificate");
    writeFileSync(join(home, "key.pem"), "-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n");
    writeFileSync(join(home, "garbage.pem"), "-----BEGIN CERTIFICATE-----\n%%%\n-----END CERTIFICATE-----\n");
    const sentence = await sentenceFor({ endpoint, apiKey, ...given });
    if (typeof says === "string") expect(sentence).toContain(says);
    else expect(sentence).toMatch(says);
    expect(sentence).toMatch(new RegExp(`${prose.source}|^target cloud: `));
    expect(sentence).not.toContain("5ecret");
    expect(sentence).not.toMatch(/Invalid (input|key|option)|expected|received|Unrecognized|undefined|\[object|\n/);
  });

  test.each(["Content-Length", "transfer-encoding", "Connection", "Expect", "upgrade", "keep-alive"])(
    "the header %s, which only the connection can set",
    (name) => {
      expect(() => settings({ endpoint, apiKey, headers: { [name]: "5" } })).toThrow(/header/);
    },
  );

  test("a secret in the place of a header's name without a word of it", async () => {
    const sentence = await sentenceFor({ endpoint, apiKey, headers: { "x-token: 5ecret": "x" } });
    expect(sentence).not.toContain("5ecret");
  });
});

test("docs/rest.md lists all endpoints of both dialects", () => {
  const page = readFileSync(new URL("../../../../../docs/rest.md", import.meta.url), "utf8");
  const [, section = ""] = /^### Endpoints\n(.*?)^##/ms.exec(page) ?? [];
  const listed = [...section.matchAll(/^\| `(\w+)` \| .* \| `(.*)` \| (?:`(.*)`|none) \|$/gm)];
  const { namespace, service } = dialects;
  expect(listed.map(([, ...cells]) => cells)).toEqual(
    operations.map((name) => [name, namespace.endpoints[name], service.endpoints[name]]),
  );
});
