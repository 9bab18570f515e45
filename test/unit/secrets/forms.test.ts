import { describe, expect, test } from "vitest";
import { withoutSecrets } from "../../../src/secrets/forms.ts";
import { formsOf, leaksIn, trickyKey } from "../../support/secrets.ts";

describe("known ones", () => {
  test.each<readonly [readonly string[], string, string]>([
    [["abcd"], "abcd, not abc", "***, not abc"],
    [["a.c+d"], "a.c+d and abc+d", "*** and abc+d"],
    [["$&$1"], "$&$1", "***"],
    [["abcd", "efgh"], "abcdefgh", "******"],
    // The longer first, or its end would be left.
    [["abcd", "abcdefgh"], "x abcdefgh x", "x *** x"],
  ])("%j are taken out of %j", (secrets, text, shown) => {
    expect(withoutSecrets(text, secrets)).toBe(shown);
  });
});

test("a secret is taken out in every form that programs give to it", () => {
  for (const form of formsOf(trickyKey).filter((form) => form.length >= trickyKey.length && !form.includes("\0")))
    expect(withoutSecrets(`before ${form} after`, [trickyKey])).toMatch(/^before \S*\*\*\*\S* after$/);
  const inside = Buffer.from(`user:${trickyKey}@host`).toString("base64");
  expect(leaksIn(withoutSecrets(inside, [trickyKey]), [trickyKey])).toEqual([]);
});
