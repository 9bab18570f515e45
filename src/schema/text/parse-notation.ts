/**
 * Parses tables, columns, types and indexes as users type them: `documents.title`, `id int64 not null`, `vector(768)`,
 * `struct<a: int32, b: list<utf8>>`, `ivfPq(distanceType: cosine)`. The caller checks what was read. Pure.
 */
import { MigrateError } from "../../errors/migrate-error.ts";
import { itemName, plainKinds, type Column, type DataType } from "../data-type.ts";
import { similarName } from "../names.ts";
import { formatPath } from "../path.ts";
import { indexKinds, type IndexOption, type IndexType } from "../table-index.ts";

export interface Notation {
  /** A name; in backticks or double quotes if it contains a space or one of `.:,()<>[]{}`. */
  name(): string;
  /** `table.column`, or a longer path: the table, and the path in it. */
  column(): { readonly table: string; readonly path: string };
  /** A type, optionally followed by `not null`. */
  type(): Pick<Column, "type" | "nullable">;
  /** A colon and the type of the column that was read last, optionally followed by `not null`. */
  columnType(): Pick<Column, "type" | "nullable">;
  /** `(id int64 not null, title utf8)`. */
  columns(): readonly Column[];
  index(): IndexType;
  /** Consumes this sign or word if it comes next. Returns whether it did. */
  takes(token: string): boolean;
  /** Consumes it, and returns this notation. */
  expect(token: string): Notation;
  /** The rest of the text, as SQL. */
  sql(): string;
  /** The rest of the text, as JSON. */
  json(): unknown;
  /** Throws if any text is left. */
  end(): void;
  /** A parser of another text, such as one inside this text's JSON. */
  inner(text: string): Notation;
}

/**
 * A parser of `text`. Its methods throw ERR_NOTATION. `flag` and `form`: the flag and the form of its value, for
 * messages.
 */
export function notationOf(text: string, flag: string, form: string): Notation {
  let at = 0;
  /** The column that was read last, for messages. */
  let named = "";
  const fail = (problem: string): never => {
    throw new MigrateError("ERR_NOTATION", { flag, text, problem, form });
  };
  const rest = () => text.slice(at);
  const wanted = (what: string): never => {
    const there = rest().trim();
    return fail(`expected ${what} ${there === "" ? "at its end" : `where "${there}" stands`}`);
  };
  const match = (pattern: RegExp): string | undefined => {
    const [found] = new RegExp(`^\\s*(?:${pattern.source})`, pattern.flags).exec(rest()) ?? [];
    if (found === undefined) return undefined;
    at += found.length;
    return found.trim();
  };
  const takes = (token: string): boolean =>
    match(/^\w/.test(token) ? new RegExp(`${token.replace(" ", "\\s+")}(?![\\w])`, "i") : new RegExp(`\\${token}`)) !==
    undefined;
  const expect = (token: string) => {
    if (!takes(token)) wanted(`"${token}"`);
  };
  const name = (): string => {
    const quoted = match(/`(?:[^`]|``)+`|"(?:[^"]|"")+"/);
    if (quoted !== undefined) return quoted.slice(1, -1).replaceAll(quoted[0]!.repeat(2), quoted[0]!);
    return match(/[^\s`".:,()<>[\]{}]+/) ?? wanted("a name");
  };
  const whole = (): number => Number(match(/\d+/) ?? wanted("a number"));
  const word = (what: string): string => match(/\w+/) ?? wanted(what);
  /** `<…>` or `(…)`, whichever is easier to type. */
  const inside = <Value>(read: () => Value): Value => {
    const close = takes("<") ? ">" : takes("(") ? ")" : wanted('"<" or "("');
    const value = read();
    expect(close);
    return value;
  };
  const commaSeparated = <Value>(read: () => Value): readonly Value[] => {
    const values = [read()];
    while (takes(",")) values.push(read());
    return values;
  };
  const afterComma = <Value>(read: () => Value): Value => {
    expect(",");
    return read();
  };

  const typeOf = (column: string) => `the type of ${column}, such as utf8,`;
  const type = (what = "a type"): Pick<Column, "type" | "nullable"> => {
    const read = bareType(what);
    const nullable = !takes("not null");
    return { type: read, nullable };
  };
  const item = (): Column => ({ name: itemName, ...type("the type of its items") });
  const field = (): Column => {
    const own = name();
    takes(":");
    return { name: own, ...type(typeOf(own)) };
  };
  const bareType = (what = "a type"): DataType => {
    const start = at;
    const written = word(what);
    const kind = typeWords.get(written.toLowerCase());
    switch (kind) {
      case undefined: {
        at = start;
        const similar = otherWords.get(written.toLowerCase()) ?? similarName(written, typeWords.values());
        return fail(`there is no type ${written}${similar === undefined ? "" : `; did you mean ${similar}?`}`);
      }
      case "fixedSizeBinary":
        return { kind, length: inside(whole) };
      case "decimal128":
        return inside(() => ({ kind, precision: whole(), scale: afterComma(whole) }));
      case "time32":
      case "time64":
      case "duration":
        return { kind, unit: inside(() => word("a unit")) } as DataType;
      case "timestamp":
        return inside(() => {
          if (['"', "'", "`"].some(takes))
            fail(
              "the units are s, ms, us and ns, and are written without quotes, as is the time zone: timestamp(us, UTC)",
            );
          const unit = word("a unit");
          const zone = takes(",") ? (match(/[^\s,()<>]+/) ?? wanted("a time zone")) : undefined;
          return { kind, unit, ...(zone !== undefined && { zone }) } as DataType;
        });
      case "list":
      case "largeList":
        return { kind, item: inside(item) };
      case "fixedSizeList":
        return inside(() => ({ kind, item: item(), length: afterComma(whole) }));
      case "vector":
        return inside(() => {
          const length = whole();
          const of: Column = takes(",") ? item() : { name: itemName, type: { kind: "float32" }, nullable: true };
          return { kind: "fixedSizeList", item: of, length };
        });
      case "struct":
        return { kind, fields: inside(() => commaSeparated(field)) };
      case "dictionary":
        return inside(() => ({ kind, index: bareType(), value: afterComma(bareType) }));
      default:
        return { kind } as DataType;
    }
  };

  const option = (): IndexOption => {
    if (takes("[")) {
      const words = commaSeparated(name);
      expect("]");
      return words;
    }
    const value = name();
    if (value === "true" || value === "false") return value === "true";
    return /^\d+$/.test(value) ? Number(value) : value;
  };
  const options = (): IndexType["options"] => {
    if (!takes("(")) return {};
    if (takes(")")) return {};
    const known = new Set<string>();
    const entries = commaSeparated(() => {
      const key = name();
      if (known.has(key)) fail(`${key} is given twice`);
      known.add(key);
      expect(":");
      return [key, option()] as const;
    });
    expect(")");
    return Object.fromEntries(entries);
  };

  const notation: Notation = {
    name,
    type: () => type(),
    columnType() {
      if (!takes(":")) wanted(`":" and ${typeOf(named)}`);
      return type(typeOf(named));
    },
    takes,
    expect(token) {
      expect(token);
      return notation;
    },
    column() {
      const names = [name()];
      while (takes(".")) names.push(name());
      const [table, ...path] = names;
      if (path.length === 0) wanted(`"." and a column of ${table}`);
      named = `${table}.${formatPath(path)}`;
      return { table: table!, path: formatPath(path) };
    },
    columns() {
      expect("(");
      const columns = commaSeparated(field);
      expect(")");
      return columns;
    },
    index() {
      const written = word("an index");
      const kind = indexKinds.find((one) => one.toLowerCase() === written.toLowerCase());
      if (kind === undefined) {
        const similar = similarName(written, indexKinds);
        return fail(
          `there is no index ${written}; ${similar === undefined ? `there is ${indexKinds.join(", ")}` : `did you mean ${similar}?`}`,
        );
      }
      return { kind, options: options() };
    },
    sql() {
      const expression = rest().trim();
      if (expression === "") wanted("an SQL expression");
      at = text.length;
      return expression;
    },
    json() {
      try {
        return JSON.parse(rest(), (key, value: unknown) => {
          // Copying such a key would set a prototype.
          if (key === "__proto__") throw new SyntaxError("__proto__ can't be a key");
          return value;
        }) as unknown;
      } catch (error) {
        return fail(`${(error as Error).message.replace(/,? "?\.\.\..*$/s, "")} in its JSON`);
      } finally {
        at = text.length;
      }
    },
    end() {
      if (rest().trim() !== "") wanted("its end");
    },
    inner: (inside) => notationOf(inside, flag, form),
  };
  return notation;
}

const typeWords: ReadonlyMap<string, string> = new Map(
  [
    ...plainKinds,
    "fixedSizeBinary",
    "decimal128",
    "time32",
    "time64",
    "duration",
    "timestamp",
    "list",
    "largeList",
    "fixedSizeList",
    "vector",
    "struct",
    "dictionary",
  ].map((kind) => [kind.toLowerCase(), kind]),
);

/** Names that other tools use for these types. */
const otherWords: ReadonlyMap<string, string> = new Map(
  Object.entries({
    string: "utf8",
    text: "utf8",
    varchar: "utf8",
    int: "int32",
    integer: "int32",
    bigint: "int64",
    long: "int64",
    float: "float32",
    real: "float32",
    double: "float64",
    boolean: "bool",
    bytes: "binary",
    date: "date32",
    decimal: "decimal128",
  }),
);
