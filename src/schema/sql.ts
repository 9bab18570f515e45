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
