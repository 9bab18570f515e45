/** What of SQL the service refuses before the engine reads it. */

/** Whether anything but comments follows a semicolon. The engine would silently ignore it. */
export function hasSecondStatement(expression: string): boolean {
  const bare = expression.replace(quotedOrComment, (part) => (/^[-/]/.test(part) ? " " : "x"));
  const [, ...others] = bare.split(";");
  return others.some((other) => other.trim() !== "");
}

// A doubled quote inside quotes matches as the boundary of two quoted parts.
const quotedOrComment = /'[^']*'|"[^"]*"|`[^`]*`|--[^\n]*|\/\*(?:[^]*?\*\/|[^]*)/g;

/** The most operators that follow each other without a comma, `and` or `or`: the engine works on them recursively. */
export function longestChain(expression: string): number {
  const parts = expression.replace(quotedOrComment, "x").split(/,|\b(?:and|or)\b/i);
  return parts.reduce((most, part) => Math.max(most, part.match(/[-+*/%|&^<>=!~:]+/g)?.length ?? 0), 0);
}
