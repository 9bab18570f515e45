/** As much of SQL as has to be understood: which names an expression reads, and what would be understood in two ways. */

const token =
  /(?<text>'(?:[^']|'')*')|`(?<quoted>(?:[^`]|``)*)`|(?<comment>--|\/\*)|(?<open>\()|(?<close>\))|(?<stray>['"`;])|(?<word>[\p{Alphabetic}_][\p{Alphabetic}\p{M}\p{N}_$]*)/gu;

/** Every word of an expression that may be the name of a column, its parts too; not those inside text. */
export function namesIn(expression: string): readonly string[] {
  return [...expression.matchAll(token)].flatMap(({ groups }) => {
    const { quoted, word } = groups!;
    return quoted === undefined ? (word ?? []) : quoted.replaceAll("``", "`");
  });
}

/** Why an expression is not taken; undefined when it is for the engine to understand. */
export function sqlProblem(expression: string): string | undefined {
  let depth = 0;
  for (const { groups } of expression.matchAll(token)) {
    const { comment, open, close, stray } = groups!;
    if (stray === '"')
      return `can't hold double quotes, which the engine takes as text in some places and as a column in others; text stands in 'single quotes', a column's name in \`backticks\``;
    if (stray === ";") return "has to be one expression, without a semicolon";
    if (stray !== undefined) return `has a ${stray} that is not closed`;
    if (comment !== undefined) return "can't hold a comment";
    if (open !== undefined) depth++;
    if (close !== undefined && --depth < 0) return "has a ) that nothing opens";
  }
  return depth > 0 ? "has a ( that is not closed" : undefined;
}

/** Whether anything but a comment follows a semicolon, which the engine ignores silently. */
export function hasSecondStatement(expression: string): boolean {
  const bare = expression.replace(quotedOrComment, (part) => (/^[-/]/.test(part) ? " " : "x"));
  const [, ...others] = bare.split(";");
  return others.some((other) => other.trim() !== "");
}

// A doubled quote inside quotes reads as two quoted parts.
const quotedOrComment = /'[^']*'|"[^"]*"|`[^`]*`|--[^\n]*|\/\*(?:[^]*?\*\/|[^]*)/g;

/**
 * Columns that are null in every row for which a condition holds, as far as its form alone proves that: `a is null and …`.
 * What is bound differently than it reads (`or`, `between … and`, `case`, brackets) proves nothing.
 */
export function nullWhere(condition: string): readonly string[] {
  return (conjunctsOf(condition.trim()) ?? []).flatMap((part) => {
    if (isInBrackets(part)) return nullWhere(part.slice(1, -1));
    const { quoted, word } = nullTest.exec(part)?.groups ?? {};
    if (quoted !== undefined) return quoted.replaceAll("``", "`");
    // As a value, null is null in every row.
    return word === undefined || word.toLowerCase() === "null" ? [] : word;
  });
}

const nullTest = /^(?:`(?<quoted>(?:[^`]|``)*)`|(?<word>[a-z_][a-z0-9_$]*))\s+is\s+null$/i;

/** Whether an expression gives something else each time. */
export function isChanging(expression: string): boolean {
  return /\b(random|uuid|now|today|current_(date|time|timestamp))\b/i.test(expression);
}

/** What a condition joins with `and`; undefined where something else may bind it. */
function conjunctsOf(condition: string): readonly string[] | undefined {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  let bare = condition;
  for (const { 0: all, index, groups } of condition.matchAll(token)) {
    const { text, quoted, open, close, word } = groups!;
    if (text !== undefined || quoted !== undefined) bare = bare.replace(all, "");
    if (open !== undefined) depth++;
    if (close !== undefined) depth--;
    if (depth > 0 || word === undefined) continue;
    if (/^(or|xor|between|case)$/i.test(word)) return undefined;
    if (word.toLowerCase() !== "and") continue;
    parts.push(condition.slice(start, index).trim());
    start = index + all.length;
  }
  return /[[\]{}]/.test(bare) ? undefined : [...parts, condition.slice(start).trim()];
}

/** Whether the bracket at its start is closed by the one at its end. */
function isInBrackets(condition: string): boolean {
  let depth = 0;
  for (const { 0: all, index, groups } of condition.matchAll(token)) {
    if (groups!.open !== undefined) depth++;
    if (groups!.close !== undefined) depth--;
    if (depth === 0) return index > 0 && index + all.length === condition.length && condition.startsWith("(");
  }
  return false;
}
