/** Splits a migration file into strings, comments, brackets and commas, which is all that finding positions needs. */
const tokens = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\[^])*`|\/\/[^\n]*|\/\*[^]*?\*\/|[()[\]{},]/g;

export interface Token {
  /** The offset at which it begins, in UTF-16 units. */
  readonly at: number;
  readonly token: string;
}

export function* tokensFrom(text: string, from = 0): Generator<Token> {
  const own = new RegExp(tokens);
  own.lastIndex = from;
  for (let match = own.exec(text); match !== null; match = own.exec(text)) yield { at: match.index, token: match[0] };
}

/** The text with comments replaced by blanks, so that all offsets stay the same. */
export function withoutComments(text: string): string {
  let code = "";
  for (const { at, token } of tokensFrom(text))
    if (token.startsWith("//") || token.startsWith("/*"))
      code += text.slice(code.length, at) + token.replace(/[^\n]/g, " ");
  return code + text.slice(code.length);
}
