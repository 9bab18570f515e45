/** How an error is printed. */
import { isError } from "../checks/realm.ts";
import { firstLine, type MigrateError } from "../errors/migrate-error.ts";
import type { Line, Styled } from "../cli/command/output.ts";

/**
 * The message, and the code under which the documentation has more, unless it is about how the command is called. Several
 * problems in it get a line each.
 */
export function errorLines(error: MigrateError): readonly Line[] {
  const { code, outcome } = error;
  const isClear = outcome === "usage" || outcome === "interrupted";
  const lines = messageLines(error).map(red);
  return isClear ? lines : [...lines.slice(0, -1), [lines.at(-1)!, { style: "dim", text: ` (${code})` }]];
}

function messageLines({ message, details }: MigrateError): readonly string[] {
  const lists = Object.values(details).filter((value): value is string[] => Array.isArray(value) && value.length > 1);
  for (const list of lists) {
    const [before, after, ...more] = message.split(list.join("; "));
    if (after === undefined || more.length > 0) continue;
    const items = list.map((item) => (before === "" ? item : `  ${item}`));
    return [before!.trimEnd().replace(/[^:]$/, "$&:"), ...items, after.replace(/^; /, "")].filter(
      (line) => line !== "",
    );
  }
  return [message];
}

/** The line for an error that is not ours. */
export function unknownErrorLine(error: unknown): Line {
  return red(
    isRefusedFile(error)
      ? `a file was refused: ${firstLine(error)}; fix that and run the command again`
      : `internal error: ${firstLine(error)}; run with --verbose for where, and report it`,
  );
}

/** Whether the operating system has refused a file or a folder to this user, or has no space for it. */
function isRefusedFile(error: unknown): boolean {
  const codes = ["EACCES", "EPERM", "EROFS", "ENOSPC", "EDQUOT"];
  return isError(error) && "path" in error && "code" in error && codes.includes(String(error.code));
}

export function red(text: string): Styled {
  return { style: "red", text };
}
