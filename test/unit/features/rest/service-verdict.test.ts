import { expect, test } from "vitest";
import { MigrateError } from "../../../../src/errors/migrate-error.ts";
import { verdictOf } from "../../../../src/features/rest/service-verdict.ts";

const answered = (status: number) =>
  verdictOf(new MigrateError("ERR_ANSWER", { target: "test", request: "POST /v1/table/t", status, problem: "no" }));

test.each([300, 307, 400, 404, 405, 409, 410, 413, 422, 499])(
  "an answer with %i says that nothing was done",
  (status) => {
    expect(answered(status).kind).toBe("refused");
  },
);

test.each([408, 500, 501, 502, 503, 504, 599])("an answer with %i may be to a change that was made", (status) => {
  expect(answered(status).kind).toBe("unanswered");
});

test("an answer with 429 asks for patience", () => {
  expect(answered(429).kind).toBe("throttled");
});
