/** Checks what commands print with --json against the published shapes. */
import { isDeepStrictEqual } from "node:util";
import { errorDocumentShape } from "../../src/cli/json/shared.ts";
import { documents } from "../../src/main/commands/documents.ts";

/** Throws if a whole line on stdout has not the shape that docs/reference/json.md promises, or has members that it does not list. */
export function checkJsonOutput(args: readonly string[], stdout: string): void {
  if (!args.includes("--json")) return;
  const isDryRun = args.includes("--dry-run") && ["up", "down"].includes(args[0]!);
  const name = isDryRun ? "plan" : args[0]!;
  // A process that was killed may have written a part of its last line.
  for (const line of stdout.split("\n").slice(0, -1)) {
    const value: unknown = JSON.parse(line);
    const own = Object.hasOwn(documents, name) ? [documents[name]!] : [];
    const results = [errorDocumentShape, ...own].map((shape) => shape.safeParse(value));
    if (results.some(({ data }) => isDeepStrictEqual(data, value))) continue;
    const problem = results.at(-1)!.error?.message ?? "it has members that are not listed";
    throw new Error(`migrate ${args.join(" ")} printed ${line}, which is not as src/cli/json describes it: ${problem}`);
  }
}
