import { expect, test } from "vitest";
import { shellWord } from "../../../../src/features/shared/format-notation.ts";

test.each([
  ["data/one", "data/one", "data/one"],
  ["documents.title:body as SQL", "'documents.title:body as SQL'", '"documents.title:body as SQL"'],
  ["it's", "'it'\\''s'", `"it's"`],
  ['a "b"', `'a "b"'`, String.raw`"a \"b\""`],
  [String.raw`C:\data`, String.raw`'C:\data'`, String.raw`"C:\data"`],
])("%s is %s in a shell of Unix, and %s in one of Windows", (text, unix, windows) => {
  expect(shellWord(text, false)).toBe(unix);
  expect(shellWord(text, true)).toBe(windows);
});
