/** Text, comments and brackets of a migration file: what else stands in it does not matter to those who look for places. */
const tokens = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\[^])*`|\/\/[^\n]*|\/\*[^]*?\*\/|[()[\]{},]/g;

export interface Token {
  /** Where it begins, in UTF-16 units. */
  readonly at: number;
  readonly token: string;
}

export function* tokensFrom(text: string, from = 0): Generator<Token> {
  const own = new RegExp(tokens);
  own.lastIndex = from;
  for (let match = own.exec(text); match !== null; match = own.exec(text)) yield { at: match.index, token: match[0] };
}

/** The text with blanks for comments: every place in it stays where it was. */
export function withoutComments(text: string): string {
  let code = "";
  for (const { at, token } of tokensFrom(text))
    if (token.startsWith("//") || token.startsWith("/*"))
      code += text.slice(code.length, at) + token.replace(/[^\n]/g, " ");
  return code + text.slice(code.length);
}
