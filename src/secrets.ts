/**
 * Texts without secrets. Whoever learns a secret says so with `keepSecret`; from then on no error of this process and no
 * line of its command repeats it, wherever the text came from: a service, the engine, or what a migration has thrown.
 */

import { inspect } from "node:util";

const hidden = "***";
/** A shorter one is no secret, and to hide it would take words out of names. */
const shortest = 8;
const learnt = new Set<string>();

/** Where the tool, the engine and its object stores look for credentials. */
const variables = [
  "MIGRATE_API_KEY",
  "LANCEDB_API_KEY",
  "AWS_SECRET_ACCESS_KEY",
  "AWS_SESSION_TOKEN",
  "AZURE_CLIENT_SECRET",
  "AZURE_STORAGE_ACCOUNT_KEY",
  "AZURE_STORAGE_CLIENT_SECRET",
  "AZURE_STORAGE_SAS_KEY",
  "AZURE_STORAGE_SAS_TOKEN",
  "AZURE_STORAGE_TOKEN",
  "GOOGLE_SERVICE_ACCOUNT_KEY",
  "OSS_ACCESS_KEY_SECRET",
  "HF_TOKEN",
] as const;
const proxies = ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"] as const;

export function keepSecret(...secrets: readonly (string | undefined)[]): void {
  for (const secret of secrets) for (const form of [secret, secret?.trim()]) if (isLong(form)) learnt.add(form);
}

/** Whether the value of a setting, a header or a part of a query is a secret, by its name. */
export function namesSecret(name: string): boolean {
  if (/(key_?id|_path|_enabled)$/i.test(name)) return false;
  return /secret|token|passw|credential|auth|cookie|signature|sas(_|$)|key|^sig$/i.test(name);
}

/** The user name and the password of an address are secrets, and so are the parts of its query that say so. */
export function secretsOfAddress(address: string): readonly string[] {
  const [, userinfo = ""] = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)@/i.exec(address) ?? [];
  const [, query = ""] = /\?([^#]*)/.exec(address) ?? [];
  const values = query
    .split("&")
    .flatMap((part) => (namesSecret(part.split("=", 1)[0]!) ? [part.slice(part.indexOf("=") + 1)] : []));
  return [...values, ...(userinfo === "" ? [] : [userinfo, ...userinfo.split(":").slice(1)])].map(decoded);
}

/** Text without anything that is known to be secret. */
export function withoutKnownSecrets(text: string): string {
  const env = process.env;
  const known = [
    ...learnt,
    ...variables.flatMap((name) => [env[name], env[name]?.trim()]),
    ...proxies.flatMap((name) => (env[name] === undefined ? [] : secretsOfAddress(env[name]))),
  ];
  return withoutSecrets(text, [...new Set(known.filter(isLong))]);
}

/** Plain data with every text in it without known secrets. */
export function cleaned<Value>(value: Value): Value {
  return clean(value, new Map()) as Value;
}

function clean(value: unknown, copies: Map<object, unknown>): unknown {
  if (typeof value === "string") return withoutKnownSecrets(value);
  if (typeof value !== "object" || value === null) return value;
  if (copies.has(value)) return copies.get(value);
  const isArray = Array.isArray(value);
  if (!isArray && Object.getPrototypeOf(value) !== Object.prototype) return value;
  const copy: Record<string, unknown> | unknown[] = isArray ? [] : {};
  copies.set(value, copy);
  const entries = Object.entries(value).map(([name, one]) => [withoutKnownSecrets(name), clean(one, copies)] as const);
  return Object.assign(copy, Object.fromEntries(entries));
}

const deepest = 8;

/**
 * What was thrown, to be kept as the cause of an error: itself where nothing that it shows is secret, otherwise a plain error
 * of its name, message, code and place. Whoever made it may have hung anything on it.
 */
export function shownCause(thrown: unknown, depth = 0): unknown {
  if (typeof thrown === "string") return withoutKnownSecrets(thrown);
  if (typeof thrown !== "object" || thrown === null || isHarmless(thrown)) return thrown;
  const shown = new Error(withoutKnownSecrets(partOf(thrown, "message")));
  const [code, stack] = [partOf(thrown, "code"), partOf(thrown, "stack")];
  Object.assign(shown, { name: withoutKnownSecrets(partOf(thrown, "name")) || "Error" });
  if (code !== "") Object.assign(shown, { code: withoutKnownSecrets(code) });
  shown.stack = stack === "" ? undefined : withoutKnownSecrets(stack);
  if (depth === deepest) return shown;
  const { cause, errors } = thrown as { cause?: unknown; errors?: unknown };
  if (cause !== undefined) shown.cause = shownCause(cause, depth + 1);
  if (Array.isArray(errors)) Object.assign(shown, { errors: errors.map((one) => shownCause(one, depth + 1)) });
  return shown;
}

function isHarmless(thrown: object): boolean {
  try {
    const text = [inspect(thrown, { depth: deepest, showHidden: true }), partOf(thrown, "message")].join("\n");
    // Bytes are shown in a way in which nobody would find a text again.
    return withoutKnownSecrets(text) === text && !/<Buffer |Array\(\d+\) \[/.test(text);
  } catch {
    return false;
  }
}

/** A text that an error has; empty where it has none, or none that can be read. */
function partOf(thrown: object, name: string): string {
  try {
    const part = (thrown as Record<string, unknown>)[name];
    return typeof part === "string" || typeof part === "number" ? String(part) : "";
  } catch {
    return "";
  }
}

/**
 * Whatever a service echoes, and however it writes it, a secret is not repeated: as it is, in base64 or hex, or with any
 * of its characters escaped as in JSON (also JSON inside JSON), in URLs or in HTML.
 */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  // The longest first: a shorter one inside it would leave the rest.
  return secrets.toSorted((one, other) => other.length - one.length).reduce(hide, text);
}

/** An error of the same name and code. Its words may hold what was received, or a proxy's password. */
export function withoutData(thrown: unknown, secrets: readonly string[]): Error {
  const { name, code } = thrown as { readonly name?: unknown; readonly code?: unknown };
  const clean = new Error(withoutSecrets(String(code ?? name ?? "no reason was given"), secrets));
  return Object.assign(clean, { name: String(name ?? "Error"), code: code === undefined ? undefined : String(code) });
}

function isLong(secret: string | undefined): secret is string {
  return secret !== undefined && secret.length >= shortest;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Longer ones are looked for in fewer forms: an expression for all of them would take hundreds of megabytes. */
const longestTolerant = 250;
const longPiece = 64;

const expressions = new Map<string, RegExp>();
const pieces = new Map<string, readonly string[]>();

function hide(text: string, secret: string): string {
  if (secret.length > longestTolerant)
    return remembered(pieces, secret, piecesOf).reduce((all, piece) => all.replaceAll(piece, hidden), text);
  // No form is shorter than what it stands for, and most lines are short.
  return text.length < secret.length ? text : text.replace(remembered(expressions, secret, expressionOf), hidden);
}

function remembered<Value>(known: Map<string, Value>, secret: string, make: (secret: string) => Value): Value {
  const value = known.get(secret) ?? make(secret);
  known.set(secret, value);
  return value;
}

function expressionOf(secret: string): RegExp {
  return new RegExp([secret, ...base64(secret), hex(secret)].map(tolerant).join("|"), "gi");
}

/** The parts of a long secret as it is, in JSON, in a URL, in base64 and in hex: whoever cuts it off leaves less than one. */
function piecesOf(secret: string): readonly string[] {
  const forms = [secret, JSON.stringify(secret).slice(1, -1), inUrl(secret), ...base64(secret), hex(secret)];
  return [...new Set(forms)].flatMap((form) =>
    Array.from({ length: Math.ceil(form.length / longPiece) }, (_, at) =>
      // The last has the same length as the others, so that it stands nowhere else.
      form.slice(Math.min(at * longPiece, form.length - longPiece)).slice(0, longPiece),
    ),
  );
}

function inUrl(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    return text;
  }
}

/** What base64 of it looks like in the middle of other bytes: three ways, without the ends that depend on those. */
function base64(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const cores = [0, 1, 2].flatMap((before) => {
    const padded = Buffer.concat([Buffer.alloc(before), bytes]);
    const whole = [Math.ceil((before * 8) / 6), Math.floor((padded.length * 8) / 6)] as const;
    return [padded.toString("base64"), padded.toString("base64url")].map((text) => text.slice(...whole));
  });
  return [...new Set(cores)].filter((core) => core.length > 3);
}

function hex(secret: string): string {
  return Buffer.from(secret).toString("hex");
}

function tolerant(secret: string): string {
  // Only from the first of a row of backslashes on: to try it from each of them takes for ever.
  return [...secret].map((character, at) => anyForm(character, at === 0 ? "(?<!\\\\)" : "")).join("");
}

const named: Readonly<Record<string, string>> = {
  "&": "&(?:amp;)+",
  "<": "&(?:amp;)*lt;",
  ">": "&(?:amp;)*gt;",
  '"': "&(?:amp;)*quot;",
  "'": "&(?:amp;)*apos;",
  " ": "\\+",
  "\n": "\\\\+n",
  "\r": "\\\\+r",
  "\t": "\\\\+t",
};

function anyForm(character: string, before: string): string {
  const code = character.codePointAt(0)!;
  const hex = code.toString(16).padStart(2, "0");
  const plain = character.replace(/[\\^$.*+?()[\]{}|/]/, "\\$&");
  const bytes = [...Buffer.from(character)].map((byte) => `%(?:25)*${byte.toString(16).padStart(2, "0")}`).join("");
  const units = Array.from(
    { length: character.length },
    (_, at) => `\\\\+u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("");
  const forms = [
    `${before}\\\\*${plain}`,
    `${before}${units}`,
    `${before}\\\\+u\\{0*${hex}\\}`,
    ...(code < 256 ? [`${before}\\\\+x${hex}`] : []),
    bytes,
    `&(?:amp;)*#(?:0*${code}|x0*${hex});`,
    ...(named[character] === undefined ? [] : [named[character]]),
  ];
  return `(?:${forms.join("|")})`;
}
