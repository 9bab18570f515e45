import { inspect } from "node:util";
import { afterEach, expect, test, vi } from "vitest";
import { MigrateError } from "../../../src/errors/migrate-error.ts";
import { cleaned, keepSecret, withoutKnownSecrets } from "../../../src/secrets/redact.ts";

afterEach(() => vi.unstubAllEnvs());

test("what was learnt is in no error, nor in what caused it", () => {
  keepSecret("a learnt secret");
  const cause = new TypeError("it is a learnt secret", { cause: new Error(encodeURIComponent("a learnt secret")) });
  const error = new MigrateError("ERR_FILE_UNREADABLE", { file: "a learnt secret", problem: cause.message }, { cause });
  expect(error.message).toBe("*** can't be loaded: it is ***");
  expect(error.details).toEqual({ file: "***", problem: "it is ***" });
  expect(error.cause).toMatchObject({ name: "TypeError" });
  const [outer, inner] = [error.cause as Error, (error.cause as Error).cause as Error];
  expect([outer.message, inner.message]).toEqual(["it is ***", "***"]);
  expect(`${outer.stack}${inner.stack}`).not.toContain("a learnt secret");
});

test("an error without a secret stays the one that it is", () => {
  const cause = Object.assign(new Error("nothing"), { code: "ECONNRESET" });
  expect(new MigrateError("ERR_USAGE", { problem: "x" }, { cause }).cause).toBe(cause);
  expect(new MigrateError("ERR_USAGE", { problem: "x" })).not.toHaveProperty("cause");
});

test("values are cleaned at any depth, and what goes round in a circle too", () => {
  keepSecret("a learnt secret");
  const round: Record<string, unknown> = { list: ["a learnt secret", 7, null] };
  round["self"] = round;
  expect(cleaned(round)).toMatchObject({ list: ["***", 7, null] });
  const plain = { a: [1, "b"], at: new Date(0), names: new Map([["a", 1]]) };
  expect(cleaned(plain)).toEqual(plain);
});

test.each<readonly [string, (secret: string) => unknown]>([
  ["twice in one error", (secret) => twice(new Error(secret))],
  ["in an error that is its own cause", (secret) => itsOwnCause(new Error(secret))],
  ["in the name of a property", (secret) => Object.assign(new Error("x"), { [secret]: 1 })],
  ["in a map", (secret) => Object.assign(new Error("x"), { headers: new Map([["authorization", secret]]) })],
  [
    "in an instance of a class",
    (secret) =>
      Object.assign(new Error("x"), {
        request: new (class Request {
          key = secret;
        })(),
      }),
  ],
  ["in bytes", (secret) => Object.assign(new Error("x"), { body: Buffer.from(secret) })],
  ["in an object that is no error", (secret) => ({ message: secret, deep: { secret } })],
])("a secret that was thrown %s is not shown", (_, thrownWith) => {
  const secret = "sk-a-learnt-secret";
  keepSecret(secret);
  const { cause } = new MigrateError("ERR_USAGE", { problem: "x" }, { cause: thrownWith(secret) });
  const shown = inspect(cause, { depth: 20, showHidden: true });
  expect(shown).not.toContain(secret);
  expect(shown).not.toContain("73 6b 2d 61");
  expect(cause).toBeInstanceOf(Error);
});

const twice = (error: Error) => new AggregateError([error, error], "several", { cause: error });
const itsOwnCause = (error: Error) => Object.assign(error, { cause: error });

test("of an endless chain of causes, eight are kept below the error with the secret", () => {
  keepSecret("a learnt secret");
  const { cause } = new MigrateError(
    "ERR_USAGE",
    { problem: "x" },
    { cause: itsOwnCause(new Error("a learnt secret")) },
  );
  const chain: unknown[] = [];
  for (let one = cause; one !== undefined; one = (one as Error).cause) chain.push((one as Error).message);
  expect(chain).toEqual(Array.from({ length: 1 + 8 }, () => "***"));
});

test("what can't be read of a thrown error is left out", () => {
  const trap = {
    enumerable: true,
    get: () => {
      throw new Error("boom");
    },
  };
  const thrown = Object.defineProperties(new Error("a learnt secret"), { message: trap, code: trap });
  keepSecret("a learnt secret");
  expect(new MigrateError("ERR_USAGE", { problem: "x" }, { cause: thrown }).cause).toMatchObject({ name: "Error" });
});

test("the environment's credentials and the passwords of its proxies are known", () => {
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "key/of+a+store");
  vi.stubEnv("MIGRATE_API_KEY", "key-with-a-line-break\n");
  vi.stubEnv("https_proxy", "http://user:pa55%40word@proxy.example.com");
  expect(withoutKnownSecrets("key/of+a+store key-with-a-line-break pa55@word user")).toBe("*** *** *** user");
});

test.each([
  "AWS_SESSION_TOKEN",
  "AZURE_STORAGE_ACCESS_KEY",
  "azure_storage_sas_token",
  "GOOGLE_SERVICE_ACCOUNT_KEY",
  "OSS_SECURITY_TOKEN",
  "ALIBABA_CLOUD_ACCESS_KEY_SECRET",
  "HF_TOKEN",
  "HUGGING_FACE_HUB_TOKEN",
  "HUGGINGFACE_TOKEN",
  "LANCEDB_API_KEY",
  "MIGRATE_API_KEY",
])("the value of the variable %s is a secret", (name) => {
  vi.stubEnv(name, "value-of-a-variable");
  expect(withoutKnownSecrets("with value-of-a-variable")).toBe("with ***");
});

test("the password in an address of the environment is a secret, and the address is none", () => {
  vi.stubEnv("AWS_ENDPOINT_URL", "http://minio:minio-pa55word@store.example.com");
  expect(withoutKnownSecrets("minio-pa55word at store.example.com")).toBe("*** at store.example.com");
});

test("a word that is shorter than a secret is left where it is", () => {
  keepSecret("test", undefined, "", "  ");
  expect(withoutKnownSecrets("test_documents")).toBe("test_documents");
});

test.each([
  "http_proxy",
  "HTTP_PROXY",
  "https_proxy",
  "HTTPS_PROXY",
  "all_proxy",
  "ALL_PROXY",
  "npm_config_https_proxy",
])("the password of the proxy %s is a secret", (name) => {
  vi.stubEnv(name, " user:pa55:word@proxy.example.com:3128 ");
  expect(withoutKnownSecrets("pa55:word at proxy.example.com")).toBe("*** at proxy.example.com");
});

test("a copy keeps a property that is named __proto__", () => {
  const parsed: unknown = JSON.parse('{"__proto__":{"a":1},"b":2}');
  expect(JSON.stringify(cleaned(parsed))).toBe('{"__proto__":{"a":1},"b":2}');
});
