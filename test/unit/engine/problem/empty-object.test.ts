import { expect, test } from "vitest";
import { mayBeEmptyObject } from "../../../../src/engine/problem/empty-object.ts";

test.each([
  ["Generic memory error: Invalid range 0..0 for object of size 0 bytes", true],
  ["LanceError(IO): file size is too small", true],
  ["Panic in async function", false],
  ["Generic S3 error: Error performing GET http://127.0.0.1:9/t/x.manifest in 1ms: HTTP error", false],
])("%s: an object may be empty: %s", (text, may) => {
  expect(mayBeEmptyObject(new Error(text))).toBe(may);
});
