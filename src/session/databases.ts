/** A target that has several databases, such as one for each customer: which they are, and the settings of each. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { withoutMark } from "../checks/byte-order-mark.ts";
import { isObject, isText, must, type Check } from "../checks/check.ts";
import { fileReason, firstLine, isMigrateError, MigrateError } from "../errors/migrate-error.ts";
import { similarName } from "../schema/names.ts";
import { settled } from "../migrations/evaluate.ts";
import type { Target } from "../targets/contract/target.ts";

type DatabaseSettings<Config> = Config extends unknown ? Partial<Omit<Config, "kind">> : never;

/** A database: its name, or its name with the settings in which it differs from the target. */
export type ListedDatabase<Target = object> = string | ({ readonly name: string } & DatabaseSettings<Target>);

/** A list, the path of a file with one name per line, or a function that returns a list. */
export type Databases<Target = object> =
  | string
  | readonly ListedDatabase<Target>[]
  | (() => Listed<Target> | Promise<Listed<Target>>);

type Listed<Target> = Iterable<ListedDatabase<Target>> | AsyncIterable<ListedDatabase<Target>>;

export const databasesCheck: Check = must(
  (value) => (isText(value) && value !== "") || Array.isArray(value) || typeof value === "function",
  "must be a list of names, the path of a file with one name per line, or a function that returns a list",
);

/** Names become parts of paths and addresses. */
const usualName = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,254}$/;

export interface NamedDatabase {
  readonly name: string;
  /** The settings in which it differs from its target. */
  readonly own: Readonly<Record<string, unknown>>;
}

interface ConfigLocation {
  /** The configuration's, for messages. */
  readonly file: string;
  /** The folder that relative paths start from. */
  readonly folder: string;
  readonly target: string;
  /** The most seconds that a function may take. */
  readonly loadSeconds?: number | undefined;
}

/** In the order of the list. Throws ERR_CONFIG_INVALID. */
export async function listDatabases(databases: Databases, place: ConfigLocation): Promise<readonly NamedDatabase[]> {
  const refuse = (problem: string): never => {
    throw new MigrateError("ERR_CONFIG_INVALID", {
      file: place.file,
      problem: `targets.${place.target}.databases ${problem}`,
    });
  };
  const names = new Set<string>();
  return (await itemsOf(databases, place, refuse)).map((item) => {
    const { name, ...given } = isText(item) ? { name: item } : isObject(item) ? item : { name: undefined };
    if (!isText(name) || !usualName.test(name))
      return refuse(
        `holds ${shown(name ?? item)}; the name of a database consists of letters, digits, "_", "-" and ".", and begins with a letter, a digit or "_"`,
      );
    if (names.has(name)) return refuse(`holds ${name} twice`);
    names.add(name);
    // A setting of a row without a value is not given.
    const own = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
    return { name, own };
  });
}

function shown(value: unknown): string {
  return isText(value)
    ? JSON.stringify(value)
    : `a value that is no name (${Array.isArray(value) ? "array" : typeof value})`;
}

async function itemsOf(
  databases: Databases,
  { folder, loadSeconds }: ConfigLocation,
  refuse: (problem: string) => never,
): Promise<readonly unknown[]> {
  if (Array.isArray(databases)) return Array.from(databases as readonly unknown[]);
  if (isText(databases)) return namesIn(databases, folder, refuse);
  try {
    return (await settled(() => collected(databases as () => unknown), loadSeconds)) ?? refuse("must return a list");
  } catch (error) {
    if (isMigrateError(error)) throw error;
    return refuse(`can't be listed: ${firstLine(error)}`);
  }
}

/** Undefined if what the function returns is no list. */
async function collected(list: () => unknown): Promise<readonly unknown[] | undefined> {
  const listed = await list();
  if (typeof listed !== "object" || listed === null || !(Symbol.iterator in listed || Symbol.asyncIterator in listed))
    return undefined;
  const items: unknown[] = [];
  for await (const item of listed as Listed<object>) items.push(item);
  return items;
}

/** One name per line. Empty lines and lines that begin with # are ignored. */
function namesIn(file: string, folder: string, refuse: (problem: string) => never): readonly string[] {
  let text: string;
  try {
    text = readFileSync(resolve(folder, file), "utf8");
  } catch (error) {
    return refuse(`is the file ${file}, which can't be read: ${fileReason(error)}`);
  }
  return withoutMark(text)
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
}

/** The database of that name. Throws ERR_DATABASE_UNKNOWN. */
export function databaseNamed<Named extends { readonly name: string }>(
  databases: readonly Named[],
  name: string,
  target: string,
): Named {
  const found = databases.find((one) => one.name === name);
  if (found !== undefined) return found;
  const similar = similarName(
    name,
    databases.map((one) => one.name),
  );
  throw new MigrateError("ERR_DATABASE_UNKNOWN", { name, target, count: databases.length, similar });
}

/**
 * A target none of whose databases was chosen. Its capabilities are known, and it tries SQL; all that needs a database throws
 * ERR_DATABASE_NEEDED.
 */
export function withoutDatabase(target: Target): Target {
  const refuse = () => {
    throw new MigrateError("ERR_DATABASE_NEEDED", { target: target.name });
  };
  const refusing = (value: unknown): unknown => {
    if (typeof value === "function") return refuse;
    return isObject(value) ? mapped(value, (_, member) => refusing(member)) : value;
  };
  const kept: readonly string[] = ["capabilities", "close", "tryCall"] satisfies readonly (keyof Target)[];
  return mapped(target, (name, member) => (kept.includes(name) ? member : refusing(member))) as Target;
}

function mapped(object: object, change: (name: string, member: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(object).map(([name, member]) => [name, change(name, member)]));
}
