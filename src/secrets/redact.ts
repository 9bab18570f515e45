/**
 * Texts without secrets. Whoever learns a secret says so with `keepSecret`; from then on no error of this process and no
 * line of its command repeats it, wherever the text came from: a service, the engine, or what a migration has thrown.
 */

import { inspect } from "node:util";
import { withoutSecrets } from "./encoded-forms.ts";
import { secretsOfProxy, secretsOfSettings } from "./find-in-settings.ts";

/** A shorter one is no secret, and to hide it would take words out of names. */
export const shortestSecret = 8;
const learnt = new Set<string>();

/** Variables that the tool, the engine and its object stores read; those stores know no case. */
const variable = /^(migrate|lancedb|aws|azure|google|oss|alibaba_cloud|hf|hugging_?face)_/i;
/** Also those of npm, which it hands on to what npx starts. */
const proxy = /(^|_)proxy$/i;

export function keepSecret(...secrets: readonly (string | undefined)[]): void {
  for (const secret of secrets) if (secret !== undefined) learnt.add(secret);
}

/** Text without anything that is known to be secret. */
export function withoutKnownSecrets(text: string): string {
  return withoutSecrets(text, knownSecrets());
}

/** Bytes without anything that is known to be secret; the others stay as they are, whatever they mean. */
export function bytesWithoutKnownSecrets(bytes: ArrayBufferView): Buffer {
  // As Latin-1 every byte is a character, and a secret beyond ASCII is as long as its bytes.
  const secrets = new Set(knownSecrets().flatMap((secret) => [secret, Buffer.from(secret).toString("latin1")]));
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  return Buffer.from(withoutSecrets(text, [...secrets]), "latin1");
}

function knownSecrets(): readonly string[] {
  const known = [...learnt, ...secretsOfEnvironment()].flatMap((secret) => [secret, secret.trim()]);
  return [...new Set(known)].filter(({ length }) => length >= shortestSecret);
}

function secretsOfEnvironment(): readonly string[] {
  const { env } = process;
  return Object.keys(env).flatMap((name) => {
    if (proxy.test(name)) return secretsOfProxy(env[name]!);
    return variable.test(name) ? secretsOfSettings({ [name]: env[name] }) : [];
  });
}

/** Plain data with every text in it without known secrets. */
export function cleaned<Value>(value: Value): Value {
  return clean(value, knownSecrets(), new Map()) as Value;
}

function clean(value: unknown, secrets: readonly string[], copies: Map<object, unknown>): unknown {
  if (typeof value === "string") return withoutSecrets(value, secrets);
  if (typeof value !== "object" || value === null) return value;
  if (copies.has(value)) return copies.get(value);
  const isArray = Array.isArray(value);
  if (!isArray && Object.getPrototypeOf(value) !== Object.prototype) return value;
  const copy: Record<string, unknown> | unknown[] = isArray ? [] : {};
  copies.set(value, copy);
  const entries = Object.entries(value).map(
    ([name, one]) => [withoutSecrets(name, secrets), clean(one, secrets, copies)] as const,
  );
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

/** An error of the same name and code. Its words may hold what was received, or a proxy's password. */
export function withoutData(thrown: unknown, secrets: readonly string[]): Error {
  const { name, code } = thrown as { readonly name?: unknown; readonly code?: unknown };
  const clean = new Error(withoutSecrets(String(code ?? name ?? "no reason was given"), secrets));
  return Object.assign(clean, { name: String(name ?? "Error"), code: code === undefined ? undefined : String(code) });
}
