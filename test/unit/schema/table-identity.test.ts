import { expect, test } from "vitest";
import { identityOf } from "../../../src/schema/table-identity.ts";

test.each([
  ["lists the version that was seen with its time", { newest: 9, at: 100 }, "same"],
  ["lists that version with another time", { newest: 9, at: 101 }, "another"],
  ["is at a lower version", { newest: 4, at: undefined }, "another"],
  ["no longer lists that version", { newest: 9, at: undefined }, "unknown"],
] as const)("a table that %s", (_, now, identity) => {
  expect(identityOf({ version: 5, at: 100 }, now)).toBe(identity);
});

test("without a time only a lower version proves that it is another table", () => {
  expect(identityOf({ version: 5, at: undefined }, { newest: 9, at: 100 })).toBe("unknown");
  expect(identityOf({ version: 5, at: undefined }, { newest: 4, at: undefined })).toBe("another");
});
