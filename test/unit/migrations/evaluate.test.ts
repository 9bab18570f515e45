import { expect, test } from "vitest";
import { MigrateError } from "../../../src/errors/migrate-error.ts";
import { importProblem } from "../../../src/migrations/evaluate.ts";

test("a name that is not defined leads to its import", () => {
  expect(importProblem(new ReferenceError("int32 is not defined"), "file:///migrations/0001_a.ts")).toBe(
    'int32 is not defined; if it is one of lance-migrate, add import { int32 } from "lance-migrate"',
  );
});

test("a file that may not be read is not run to see where, and one that throws is", () => {
  const denied = Object.assign(new Error("EACCES: permission denied, open 'migrate.config.ts'"), { code: "EACCES" });
  const messageOf = (cause: Error) => {
    const problem = importProblem(cause, "file:///migrate.config.ts");
    return new MigrateError("ERR_CONFIG_UNREADABLE", { file: "migrate.config.ts", problem }).message;
  };
  expect(messageOf(denied)).toMatch(/let the user who runs this read the file$/);
  expect(messageOf(new Error("no"))).toMatch(/no; run it with Node to see where$/);
});
