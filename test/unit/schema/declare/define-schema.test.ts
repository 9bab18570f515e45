import { expect, test } from "vitest";
import { defineSchema } from "../../../../src/schema/declare/define-schema.ts";
import { int64 } from "../../../../src/schema/declare/type-builders.ts";

test("a list of tables is refused, as its tables have no names", () => {
  expect(() => defineSchema([{ id: int64() }] as never)).toThrow(
    "defineSchema takes an object of tables by their names, such as { documents: { … } }, not a list",
  );
});
