/** What clients get for errors of the engine. */
import { expect, test } from "vitest";
import { problemOfError } from "../../../../../src/features/serve/tables/error-answer.ts";

const ofEngine = (message: string) =>
  problemOfError(Object.assign(new Error(message), { code: "GenericFailure" }), "/data");

test.each([
  "called `Option::unwrap()` on a `None` value",
  "called `Result::unwrap()` on an `Err` value: something",
  "internal error: entered unreachable code",
  "assertion failed: left == right",
])("a panic of the engine gets a sentence: %s", (message) => {
  expect(ofEngine(message)).toMatchObject({ status: 400, error: expect.stringContaining("gave up") as string });
});

test.each(["Invalid value 'panic' of a column", "Invalid value `unreachable`"])(
  "a value of a request that looks like a panic does not: %s",
  (message) => {
    expect(ofEngine(message)).toMatchObject({ status: 400, error: message });
  },
);
