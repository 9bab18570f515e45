/** The generated parts of docs/reference/error-codes.md. */
import { endingCode } from "../../src/cli/command/exit-code.ts";
import { catalogue } from "../../src/errors/catalogue.ts";
import type { ErrorCode } from "../../src/errors/migrate-error.ts";
import { errorCases } from "../../test/e2e/support/error-cases.ts";
import { table } from "./markdown.ts";

export function errorsIndex(): string {
  const codes = Object.entries(catalogue).map(([code, { outcome }]) => ({ code, exit: endingCode(outcome) }));
  const byExit = [...Map.groupBy(codes, ({ exit }) => exit)].toSorted(([one], [other]) => one - other);
  const rows = byExit.map(([exit, own]) => [
    String(exit),
    own
      .map(({ code }) => `[${code}](../errors.md#${code.toLowerCase()})`)
      .toSorted()
      .join(", "),
  ]);
  return table(["exit code", "errors"], rows);
}

/** How a test comes to each error through the command line, or why none can with files and arguments alone. */
export function errorsReached(): string {
  const rows = Object.entries(catalogue).map(([code, { outcome }]) => {
    const way = errorCases[code as ErrorCode];
    const words = "args" in way ? `\`migrate ${way.args.join(" ")}\`` : `${way.why} (\`test/${way.test}\`)`;
    return [`[${code}](../errors.md#${code.toLowerCase()})`, String(endingCode(outcome)), words];
  });
  return table(
    ["error", "exit code", "the test of it"],
    rows.toSorted(([one = ""], [other = ""]) => (one < other ? -1 : 1)),
  );
}
