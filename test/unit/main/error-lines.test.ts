import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { unknownErrorLine } from "../../../src/main/error-lines.ts";

/** As Node throws it where the file may not be written, which root never sees. */
const refused = Object.assign(new Error("EACCES: permission denied, open '/a/0004_y.ts'"), {
  code: "EACCES",
  path: "/a/0004_y.ts",
});

test("a file that the operating system refuses is no internal error", () => {
  expect(unknownErrorLine(refused)).toMatchObject({
    text: "a file was refused: EACCES: permission denied, open '/a/0004_y.ts'; fix that and run the command again",
  });
});

test("a file that is missing is one, as any other error is", () => {
  const thrown = () => {
    try {
      return readFileSync("/nowhere/x");
    } catch (error) {
      return error;
    }
  };
  for (const error of [thrown(), new Error("no"), { code: "EACCES" }])
    expect(unknownErrorLine(error)).toMatchObject({ text: expect.stringMatching(/^internal error: /) as string });
});
