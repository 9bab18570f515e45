/** A minimal reading of SQL: which names an expression reads, and which expressions are ambiguous or incomplete. */
import type { Path } from "./path.ts";

/** A column or field as SQL names it. */
export function sqlPath(path: Path): string {
  return path.map((name) => `\`${name.replaceAll("`", "``")}\``).join(".");
}

/** A text as a literal of SQL. */
export function sqlText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

const token =
  /(?<text>'(?:[^']|'')*')|`(?<quoted>(?:[^`]|``)*)`|(?<comment>--|\/\*)|(?<open>\()|(?<close>\))|(?<stray>['"`;])|(?<word>[\p{Alphabetic}_][\p{Alphabetic}\p{M}\p{N}_$]*)/gu;

/**
 * Every word of an expression that may be a column's name or a part of its path. Words in string literals are left out.
 */
export function namesIn(expression: string): readonly string[] {
  return [...expression.matchAll(token)].flatMap(({ groups }) => {
    const { quoted, word } = groups!;
    return quoted === undefined ? (word ?? []) : quoted.replaceAll("``", "`");
  });
}

const tryingCasts: Readonly<Record<string, string>> = { cast: "try_cast", arrow_cast: "arrow_try_cast" };

/** The expression that is null where a cast in it fails; undefined if it has no cast that fails. */
export function withCastsTried(expression: string): string | undefined {
  const tried = expression.replaceAll(token, (part) => tryingCasts[part.toLowerCase()] ?? part);
  return tried === expression ? undefined : tried;
}

/** Why an expression is refused; undefined if the engine may judge it. */
export function sqlProblem(expression: string): string | undefined {
  let depth = 0;
  for (const { groups } of expression.matchAll(token)) {
    const { comment, open, close, stray } = groups!;
    if (stray === '"')
      return `can't hold double quotes, which the engine takes as text in some places and as a column in others; write text in 'single quotes', a column's name in \`backticks\``;
    if (stray === ";") return "must be one expression, without a semicolon";
    if (stray !== undefined) return `has a ${stray} that is not closed`;
    if (comment !== undefined) return "can't hold a comment";
    if (open !== undefined) depth++;
    if (close !== undefined && --depth < 0) return "has a ) that nothing opens";
  }
  return depth > 0 ? "has a ( that is not closed" : undefined;
}

/**
 * Columns that are null in every row for which a condition holds, as far as the form of the condition proves it, as in
 * `a is null and …`. A condition with `or`, `xor`, `between` or `case` outside parentheses, or with `[]` or `{}`,
 * proves nothing, because `and` may not join its parts.
 */
export function nullWhere(condition: string): readonly string[] {
  return (conjunctsOf(condition.trim()) ?? []).flatMap((part) => {
    if (isInBrackets(part)) return nullWhere(part.slice(1, -1));
    const { quoted, word } = nullTest.exec(part)?.groups ?? {};
    if (quoted !== undefined) return quoted.replaceAll("``", "`");
    // In `null is null`, which holds in every row, null is not a column.
    return word === undefined || word.toLowerCase() === "null" ? [] : word;
  });
}

const nullTest = /^(?:`(?<quoted>(?:[^`]|``)*)`|(?<word>[a-z_][a-z0-9_$]*))\s+is\s+null$/i;

/** The name that an expression consists of, alone or in one `cast`, and the type that the cast names in lower case. */
export function castIn(expression: string): { readonly name: string; readonly type?: string } | undefined {
  const shape = expression.replaceAll(token, (part) => (/^[`\p{Alphabetic}_]/u.test(part) ? "x" : part)).trim();
  const [first, name, as, type] = namesIn(expression);
  if (shape === "x") return { name: first! };
  const isCast = /^x\s*\(\s*x\s+x\s+x\s*\)$/.test(shape) && `${first} ${as}`.toLowerCase() === "cast as";
  return isCast ? { name: name!, type: type!.toLowerCase() } : undefined;
}

/** Whether an expression is a number, a text, true or false, so that it is the same in every row and not null. */
export function isLiteral(expression: string): boolean {
  return /^(?:[+-]?\d+(?:\.\d+)?|'(?:[^']|'')*'|true|false)$/i.test(expression.trim());
}

/** Whether an expression may have a different value each time it is evaluated. */
export function isChanging(expression: string): boolean {
  return /\b(random|uuid|now|today|current_(date|time|timestamp))\b/i.test(expression);
}

/** The parts that a condition joins with `and`; undefined if something else may join them. */
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

/** Whether the parenthesis at the start is closed by the one at the end. */
function isInBrackets(condition: string): boolean {
  let depth = 0;
  for (const { 0: all, index, groups } of condition.matchAll(token)) {
    if (groups!.open !== undefined) depth++;
    if (groups!.close !== undefined) depth--;
    if (depth === 0) return index > 0 && index + all.length === condition.length && condition.startsWith("(");
  }
  return false;
}
