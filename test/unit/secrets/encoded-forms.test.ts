import { generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import { withoutSecrets } from "../../../src/secrets/encoded-forms.ts";
import { formsOf, leaksIn, trickyKey } from "../../support/secrets.ts";

describe("known ones", () => {
  test.each<readonly [readonly string[], string, string]>([
    [["abcd"], "abcd, not abc", "***, not abc"],
    [["a.c+d"], "a.c+d and abc+d", "*** and abc+d"],
    [["$&$1"], "$&$1", "***"],
    [["7"], "redis://user:7@host", "redis://user:***@host"],
    [["abcd", "efgh"], "abcdefgh", "******"],
    // The longer first, or its end would be left.
    [["abcd", "abcdefgh"], "x abcdefgh x", "x *** x"],
  ])("%j are taken out of %j", (secrets, text, shown) => {
    expect(withoutSecrets(text, secrets)).toBe(shown);
  });
});

test("a secret is removed in every form in which messages contain it", () => {
  for (const form of formsOf(trickyKey).filter((form) => form.length >= trickyKey.length && !form.includes("\0")))
    expect(withoutSecrets(`before ${form} after`, [trickyKey])).toMatch(/^before \S*\*\*\*\S* after$/);
  const inside = Buffer.from(`user:${trickyKey}@host`).toString("base64");
  expect(leaksIn(withoutSecrets(inside, [trickyKey]), [trickyKey])).toEqual([]);
});

test("a secret is removed in every form also if there are a thousand others", () => {
  const others = Array.from({ length: 1000 }, (_, index) => `another-key-${index * 7919}`);
  const secrets = [...others, trickyKey];
  for (const form of formsOf(trickyKey)) {
    const text = `before ${form} ${others[500]!} after`;
    expect(withoutSecrets(text, secrets)).toBe(withoutSecrets(text, [others[500]!, trickyKey]));
  }
});

test("a long secret is taken out to its last character", () => {
  const secret = Array.from({ length: 100 }, (_, index) => `${index}-`).join("");
  for (const text of [secret, encodeURIComponent(`"${secret}"`), JSON.stringify(`"${secret}"`)])
    expect(withoutSecrets(`before ${text} after`, [secret])).toMatch(/^before ("\\"|%22)?\*\*\*(\\""|%22)? after$/);
});

test("a line of a secret is removed where a text quotes it alone, and a line around it is not", () => {
  const line = "MIIEvQIBADANBgkqhkiG9w0BAQEF";
  const secret = `-----BEGIN PRIVATE KEY-----\n${line}\nAASCBKcwggSjAgEAAoIBAQ\n-----END PRIVATE KEY-----`;
  expect(withoutSecrets(`line 2, ${line}, is cut`, [secret])).toBe("line 2, ***, is cut");
  expect(withoutSecrets("-----BEGIN PRIVATE KEY----- is missing", [secret])).toBe(
    "-----BEGIN PRIVATE KEY----- is missing",
  );
});

describe("a long secret is taken out", () => {
  const secret = Array.from({ length: 100 }, (_, index) => `${index}+/é😀`).join("");
  const each = (pattern: RegExp, write: (character: string) => string) => secret.replace(pattern, write);
  const code = (character: string) => character.charCodeAt(0).toString(16).padStart(4, "0");

  test.each([
    ["in base64", Buffer.from(secret).toString("base64")],
    ["in base64url, inside other text", Buffer.from(`x${secret}`).toString("base64url").slice(2)],
    ["in base64 in a URL", encodeURIComponent(Buffer.from(secret).toString("base64"))],
    ["in a URL in lower case", encodeURIComponent(secret).replace(/%../g, (one) => one.toLowerCase())],
    ["in a URL in a URL", encodeURIComponent(encodeURIComponent(secret))],
    ["in JSON with more escapes than are needed", each(/[^\w]/g, (one) => `\\u${code(one)}`)],
    ["in JSON with slashes as PHP writes them", secret.replaceAll("/", "\\/")],
  ])("%s", (_, text) => {
    expect(withoutSecrets(`before ${text}-after`, [secret])).toMatch(/^before \*\*\*.{0,3}-after$/);
  });

  test("where what stands before it makes an escape of its beginning", () => {
    const hex = Buffer.from(secret).toString("hex");
    expect(withoutSecrets(`100%${hex}`, [hex])).toBe("100%***");
  });

  test("and the words around it stay", () => {
    expect(withoutSecrets(`a + b: %41 ${encodeURIComponent(secret)} & \\n c`, [secret])).toBe("a + b: %41 *** & \\n c");
  });

  test("though it is made of nothing but spaces and pluses", () => {
    const blank = " +".repeat(200);
    expect(withoutSecrets(`before${blank}after`, [blank])).toBe("before***after");
    expect(withoutSecrets("before after", [blank])).toBe("before after");
  });
});

describe("of a PEM key nothing is left", () => {
  const { privateKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  });
  const lines = privateKey.split("\n").filter((line) => /^[^-]/.test(line));

  test.each([
    ["with its line breaks", privateKey],
    ["in JSON", JSON.stringify({ private_key: privateKey })],
    ["in JSON in JSON", JSON.stringify(JSON.stringify({ private_key: privateKey }))],
    ["in one line", privateKey.replaceAll("\n", " ")],
    ["with a place before each line", privateKey.replaceAll("\n", "\n  at 7: ")],
    ["in a URL", encodeURIComponent(privateKey)],
    ["in base64", Buffer.from(privateKey).toString("base64")],
    ["in base64 of JSON", Buffer.from(JSON.stringify({ private_key: privateKey })).toString("base64")],
  ])("%s", (_, text) => {
    const shown = withoutSecrets(text, [privateKey]);
    const bytes = Buffer.from(shown, "base64").toString("latin1");
    expect(lines.filter((line) => [shown, bytes].some((one) => one.includes(line.slice(0, 16))))).toEqual([]);
    expect(shown.length).toBeLessThan(text.length / 2);
  });

  test("but its first line stays in a sentence about keys", () => {
    const sentence = "a key must begin with -----BEGIN PRIVATE KEY-----";
    expect(withoutSecrets(sentence, [privateKey])).toBe(sentence);
  });
});

test.each<readonly [string, string, string, string]>([
  ["a backslash before it in JSON", JSON.stringify({ login: 'CORP\\n0t"so-secret' }), 'n0t"so-secret', "n0t"],
  ["JSON inside JSON", JSON.stringify(JSON.stringify({ login: 'CORP\\r3d"dog' })), 'r3d"dog', "r3d"],
  ["a percent sign before it in a URL", `like=%${encodeURIComponent("ad/min+pass")}`, "ad/min+pass", "ad%2F"],
  ["digits after a percent sign at its end", `${encodeURIComponent("abc/def/gh%")}41`, "abc/def/gh%", "abc"],
])("a secret is removed although %s can be read as an escape with it", (_, text, secret, part) => {
  expect(withoutSecrets(text, [secret])).toContain("***");
  expect(withoutSecrets(text, [secret])).not.toContain(part);
});

test.each([48, 76, 100])("a key whose lines are broken after %i characters is removed", (width) => {
  const lines = Array.from({ length: 20 }, (_, line) => Buffer.alloc(48, line * 7 + 1).toString("base64"));
  const secret = `-----BEGIN PRIVATE KEY-----\n${lines.join("\n")}\n-----END PRIVATE KEY-----\n`;
  const broken = lines.join("").match(new RegExp(`.{1,${width}}`, "g"))!;
  expect(withoutSecrets(`error: ${broken.join("\n")} end`, [secret])).toBe("error: *** end");
});

test.each(["\r\n", "\n    ", " "])("a secret of short lines is removed if %j stands between them", (between) => {
  expect(withoutSecrets(`x line-one-a${between}line-two-b y`, ["line-one-a\nline-two-b"])).toBe("x *** y");
});
