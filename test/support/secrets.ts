/** The search for secrets in whatever was written, in the forms in which messages and answers contain texts. */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { rowsOf, versionsOf } from "./tables.ts";

/** A key with every character that some encoding writes otherwise. */
export const trickyKey = 'sk-5e"cr+et/7==\\q&<x>';

const escaped = (secret: string, each: (character: string) => string) => Array.from(secret, each).join("");
const unit = (character: string) => character.charCodeAt(0).toString(16).padStart(4, "0");
const json = (secret: string) => JSON.stringify(secret).slice(1, -1);
const percent = (secret: string) =>
  Array.from(Buffer.from(secret), (byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");

/** Base64 in the middle of other bytes, without the ends that those decide about. */
function base64(secret: string, before: number): string {
  const padded = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)]);
  return padded.toString("base64").slice(Math.ceil((before * 8) / 6), Math.floor((padded.length * 8) / 6));
}

const known = new Map<string, readonly string[]>();

/** A text as servers, programs and logs write it; also what is left of one that was cut. */
export function formsOf(secret: string): readonly string[] {
  const forms = known.get(secret) ?? makeForms(secret);
  known.set(secret, forms);
  return forms;
}

function makeForms(secret: string): readonly string[] {
  const pieces = [0, Math.floor((secret.length - 12) / 2), secret.length - 12]
    .filter((from) => from >= 0)
    .map((from) => secret.slice(from, from + 12));
  const whole = [
    secret,
    json(secret),
    json(json(secret)),
    json(json(json(secret))),
    json(secret).replaceAll("/", "\\/"),
    encodeURIComponent(secret),
    encodeURIComponent(encodeURIComponent(secret)),
    encodeURI(secret),
    percent(secret),
    escaped(secret, (one) => `\\u${unit(one)}`),
    ...[0, 1, 2].map((before) => base64(secret, before)),
    ...[0, 1, 2].map((before) => base64(secret, before).replaceAll("+", "-").replaceAll("/", "_")),
    Buffer.from(secret, "utf16le").toString("latin1"),
    Buffer.from(secret).toString("latin1"),
    ...pieces,
  ];
  const cases = (form: string) => (form.length < 8 ? [] : [form, form.toLowerCase(), form.toUpperCase()]);
  return [...new Set(whole.flatMap(cases))];
}

/** What a careless server sends back: a secret in all these forms. */
export function echoOf(secret: string): string {
  return formsOf(secret)
    .filter((form) => form.length >= secret.length && !form.includes("\0"))
    .join(" | ");
}

/** Where a text holds one of the secrets: its surroundings, for the message of a test. */
export function leaksIn(text: string, secrets: readonly string[]): readonly string[] {
  return secrets.flatMap((secret) =>
    formsOf(secret).flatMap((form) => {
      const at = text.indexOf(form);
      return at === -1 ? [] : [`${form} in …${text.slice(Math.max(0, at - 60), at + form.length + 20)}…`];
    }),
  );
}

/** Every file below a folder, but not what is planted there, as Latin-1, so that no byte is lost. Follows no link. */
export function filesIn(folder: string, planted: ReadonlyMap<string, string>): readonly (readonly [string, string])[] {
  return pathsIn(folder).flatMap((path) => {
    const name = relative(folder, path);
    const bytes = readFileSync(path);
    return planted.get(name) === bytes.toString("utf8") ? [] : [[name, `${name} ${bytes.toString("latin1")}`] as const];
  });
}

function pathsIn(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? pathsIn(path) : entry.isFile() ? [path] : [];
  });
}

/** All rows of all tables in a folder, as the engine reads them out of its compressed files. */
export async function rowsIn(database: string): Promise<string> {
  const names = Object.keys(await versionsOf(database));
  const rows = await Promise.all(names.map(async (name) => JSON.stringify(await rowsOf(database, name))));
  return [...names, ...rows].join("\n");
}
