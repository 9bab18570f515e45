import { expect, test } from "vitest";
import { parseJson } from "../../../../../src/features/serve/work/parse-json.ts";
import { isMigrateError, problemIn } from "../../../../../src/errors/migrate-error.ts";

test.each(["{", `${"[".repeat(65)}${"]".repeat(65)}`])(
  "a body that the service does not read is refused: %s",
  (body) => {
    const error = problemIn(() => parseJson(body));
    expect(isMigrateError(error, "ERR_REQUEST") && error.details).toMatchObject({ status: 400, code: 13 });
  },
);
