/** Texts without secrets. */

const hidden = "***";

/**
 * Whatever a service echoes, and however it writes it, a secret is not repeated: as it is, in base64, or with any of its
 * characters escaped as in JSON (also JSON inside JSON), in URLs or in HTML.
 */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  // The longest first: a shorter one inside it would leave the rest.
  return secrets
    .toSorted((one, other) => other.length - one.length)
    .flatMap((secret) => [tolerant(secret), ...base64(secret).map(tolerant)])
    .reduce((shown, pattern) => shown.replace(pattern, hidden), text);
}

/** An error of the same name and code. Its words may hold what was received, or a proxy's password. */
export function withoutData(thrown: unknown, secrets: readonly string[]): Error {
  const { name, code } = thrown as { readonly name?: unknown; readonly code?: unknown };
  const clean = new Error(withoutSecrets(String(code ?? name ?? "no reason was given"), secrets));
  return Object.assign(clean, { name: String(name ?? "Error"), code: code === undefined ? undefined : String(code) });
}

function base64(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  return [bytes.toString("base64").replace(/=+$/, ""), bytes.toString("base64url")];
}

function tolerant(secret: string): RegExp {
  return new RegExp([...secret].map(anyForm).join(""), "g");
}

function anyForm(character: string): string {
  const code = character.codePointAt(0)!;
  const hex = code
    .toString(16)
    .padStart(2, "0")
    .replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
  const plain = character.replace(/[\\^$.*+?()[\]{}|/]/, "\\$&");
  return `(?:\\\\*${plain}|\\\\+u00${hex}|%${hex}|%25${hex}|&#0*${code};|&#[xX]0*${hex};)`;
}
