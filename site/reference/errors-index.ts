/** The generated index of docs/errors.md. */
import { endingCode } from "../../src/cli/command/exit-code.ts";
import { catalogue } from "../../src/errors/catalogue.ts";
import { table } from "./markdown.ts";

export function errorsIndex(): string {
  const codes = Object.entries(catalogue).map(([code, { outcome }]) => ({ code, exit: endingCode(outcome) }));
  const byExit = [...Map.groupBy(codes, ({ exit }) => exit)].toSorted(([one], [other]) => one - other);
  const rows = byExit.map(([exit, own]) => [
    String(exit),
    own
      .map(({ code }) => `[${code}](#${code.toLowerCase()})`)
      .toSorted()
      .join(", "),
  ]);
  return table(["exit code", "errors"], rows);
}
