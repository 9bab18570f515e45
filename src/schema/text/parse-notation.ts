/**
 * Parses tables, columns, types and indexes as users type them: `documents.title`, `id int64 not null`, `vector(768)`,
 * `struct<a: int32, b: list<utf8>>`, `ivfPq(distanceType: cosine)`. The caller checks what was read. Pure.
 */
import type { Column } from "../data-type.ts";
import { similarName } from "../names.ts";
import { formatPath } from "../path.ts";
import { indexKinds, type IndexKind, type IndexOption, type IndexType } from "../table-index.ts";
import { parseField, parseType, typeOf } from "./parse-type.ts";
import { textReader, type TextReader } from "./text-reader.ts";

export interface Notation extends Pick<TextReader, "name" | "takes" | "end"> {
  /** `table.column`, or a longer path: the table, and the path in it. */
  column(): { readonly table: string; readonly path: string };
  /** A type, optionally followed by `not null`. */
  type(): Pick<Column, "type" | "nullable">;
  /** A colon and the type of the column that was read last, optionally followed by `not null`. */
  columnType(): Pick<Column, "type" | "nullable">;
  /** `(id int64 not null, title utf8)`. */
  columns(): readonly Column[];
  index(): IndexType;
  /** Consumes this sign or word, and returns this notation. */
  expect(token: string): Notation;
  /** The rest of the text, as SQL. */
  sql(): string;
  /** The rest of the text, as JSON. */
  json(): unknown;
  /** A parser of another text, such as one inside this text's JSON. */
  inner(text: string): Notation;
}

/**
 * A parser of `text`. Its methods throw ERR_NOTATION. `flag` and `form`: the flag and the form of its value, for
 * messages.
 */
export function notationOf(text: string, flag: string, form: string): Notation {
  const reader = textReader(text, flag, form);
  const { name, takes, expect, wanted, end } = reader;
  /** The column that was read last, for messages. */
  let named = "";

  const notation: Notation = {
    name,
    column() {
      const names = [name()];
      while (takes(".")) names.push(name());
      const [table, ...path] = names;
      if (path.length === 0) wanted(`"." and a column of ${table}`);
      named = `${table}.${formatPath(path)}`;
      return { table: table!, path: formatPath(path) };
    },
    type: () => parseType(reader),
    columnType() {
      if (!takes(":")) wanted(`":" and ${typeOf(named)}`);
      return parseType(reader, typeOf(named));
    },
    columns() {
      expect("(");
      const columns = reader.commaSeparated(() => parseField(reader));
      expect(")");
      return columns;
    },
    index: () => ({ kind: indexKindOf(reader), options: optionsOf(reader) }),
    takes,
    expect(token) {
      expect(token);
      return notation;
    },
    sql: () => reader.rest().trim() || wanted("an SQL expression"),
    json: () => jsonOf(reader),
    end,
    inner: (inside) => notationOf(inside, flag, form),
  };
  return notation;
}

function indexKindOf({ word, fail }: TextReader): IndexKind {
  const written = word("an index");
  const kind = indexKinds.find((one) => one.toLowerCase() === written.toLowerCase());
  if (kind !== undefined) return kind;
  const similar = similarName(written, indexKinds);
  return fail(
    `there is no index ${written}; ${similar === undefined ? `there is ${indexKinds.join(", ")}` : `did you mean ${similar}?`}`,
  );
}

function optionsOf(reader: TextReader): IndexType["options"] {
  const { takes, expect, fail, name } = reader;
  if (!takes("(") || takes(")")) return {};
  const known = new Set<string>();
  const entries = reader.commaSeparated(() => {
    const key = name();
    if (known.has(key)) fail(`${key} is given twice`);
    known.add(key);
    expect(":");
    return [key, optionOf(reader)] as const;
  });
  expect(")");
  return Object.fromEntries(entries);
}

function optionOf({ takes, expect, name, commaSeparated }: TextReader): IndexOption {
  if (takes("[")) {
    const words = commaSeparated(name);
    expect("]");
    return words;
  }
  const value = name();
  if (value === "true" || value === "false") return value === "true";
  return /^\d+$/.test(value) ? Number(value) : value;
}

function jsonOf({ rest, fail }: TextReader): unknown {
  try {
    return JSON.parse(rest(), (key, value: unknown) => {
      // Copying such a key would set a prototype.
      if (key === "__proto__") throw new SyntaxError("__proto__ can't be a key");
      return value;
    }) as unknown;
  } catch (error) {
    return fail(`${(error as Error).message.replace(/,? "?\.\.\..*$/s, "")} in its JSON`);
  }
}
