/**
 * Removes secrets from texts. Code that learns a secret passes it to `keepSecret`; from then on, no error of this
 * process and no line that the command prints contains it, whether the text comes from a service, the engine or a
 * migration.
 */

import { isPlainObject } from "../checks/realm.ts";
import { inspect } from "node:util";
import { withoutSecrets } from "./encoded-forms.ts";
import { secretsOfProxy, secretsOfSettings } from "./find-in-settings.ts";

/** A shorter text is not treated as a secret, because hiding it would remove words from names. */
export const shortestSecret = 8;
const learnt = new Set<string>();

/** Variables that the tool, the engine and its object stores read. The stores ignore the case of names. */
const variable = /^(migrate|lancedb|aws|azure|google|oss|alibaba_cloud|hf|hugging_?face)_/i;
/** Includes npm's own proxy variables, which npx passes on to the process it starts. */
const proxy = /(^|_)proxy$/i;

export function keepSecret(...secrets: readonly (string | undefined)[]): void {
  for (const secret of secrets) if (secret !== undefined) learnt.add(secret);
}

/** The text without known secrets. */
export function withoutKnownSecrets(text: string): string {
  return withoutSecrets(text, knownSecrets());
}

/** The bytes without known secrets. All other bytes stay as they are, whatever they encode. */
export function bytesWithoutKnownSecrets(bytes: ArrayBufferView): Buffer {
  // Latin-1 maps each byte to one character, so a non-ASCII secret is searched for in the form of its bytes too.
  const secrets = new Set(knownSecrets().flatMap((secret) => [secret, Buffer.from(secret).toString("latin1")]));
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  return Buffer.from(withoutSecrets(text, [...secrets]), "latin1");
}

let latest = { learnt: 0, environment: "", secrets: [] as readonly string[] };

/** The same array as long as they are the same, which `withoutSecrets` then needs to prepare only once. */
function knownSecrets(): readonly string[] {
  const environment = secretsOfEnvironment();
  const joined = environment.join("\0");
  if (latest.learnt !== learnt.size || latest.environment !== joined) {
    const known = [...learnt, ...environment].flatMap((secret) => [secret, secret.trim()]);
    const secrets = [...new Set(known)].filter(({ length }) => length >= shortestSecret);
    latest = { learnt: learnt.size, environment: joined, secrets };
  }
  return latest.secrets;
}

function secretsOfEnvironment(): readonly string[] {
  const { env } = process;
  return Object.keys(env).flatMap((name) => {
    if (proxy.test(name)) return secretsOfProxy(env[name]!);
    return variable.test(name) ? secretsOfSettings({ [name]: env[name] }) : [];
  });
}

/** A copy of plain data with known secrets removed from every text in it. */
export function cleaned<Value>(value: Value): Value {
  return clean(value, knownSecrets(), new Map()) as Value;
}

function clean(value: unknown, secrets: readonly string[], copies: Map<object, unknown>): unknown {
  if (typeof value === "string") return withoutSecrets(value, secrets);
  if (typeof value !== "object" || value === null) return value;
  if (copies.has(value)) return copies.get(value);
  const isArray = Array.isArray(value);
  if (!isArray && !isPlainObject(value)) return value;
  const copy: Record<string, unknown> | unknown[] = isArray ? [] : {};
  copies.set(value, copy);
  for (const [name, one] of Object.entries(value)) {
    const property = { value: clean(one, secrets, copies), enumerable: true, writable: true, configurable: true };
    // An assignment to `__proto__` would change the prototype instead.
    Object.defineProperty(copy, withoutSecrets(name, secrets), property);
  }
  return copy;
}

const deepest = 8;

/**
 * A thrown value to be kept as the cause of an error: the value itself if nothing that it shows is secret, otherwise a
 * plain error with its name, message, code, stack, cause and errors. Any other property may hold anything, so it is
 * dropped.
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
    // `inspect` prints bytes as numbers, in which a secret would not be found.
    return withoutKnownSecrets(text) === text && !/<Buffer |Array\(\d+\) \[/.test(text);
  } catch {
    return false;
  }
}

/** A property of an error as text; empty if it has none, or none that can be read. */
function partOf(thrown: object, name: string): string {
  try {
    const part = (thrown as Record<string, unknown>)[name];
    return typeof part === "string" || typeof part === "number" ? String(part) : "";
  } catch {
    return "";
  }
}

/**
 * An error with the same name and code. The message is left out: it may contain received data or a proxy's password.
 */
export function withoutData(thrown: unknown, secrets: readonly string[]): Error {
  const { name, code } = thrown as { readonly name?: unknown; readonly code?: unknown };
  const clean = new Error(withoutSecrets(String(code ?? name ?? "no reason was given"), secrets));
  return Object.assign(clean, { name: String(name ?? "Error"), code: code === undefined ? undefined : String(code) });
}
