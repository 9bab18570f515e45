/** Texts that a request may contain and that nobody sends by mistake: names, paths and SQL. */
import type { Chance } from "../../simulate/seeded-random.ts";

/** Tables that requests work on. They are created again when they are gone. */
export const fuzzedTables = ["books", "nested", "indexed", "tagged"] as const;

/** Links in the data folder that lead outside. */
export const linkedTables = ["linked", "dangling", "partly"] as const;

const hostileNames = [
  "..",
  ".",
  "...",
  "../books",
  "..%2f..%2foutside%2fa",
  "%2e%2e%2foutside%2fa",
  "..%5coutside",
  "%00",
  "books%00",
  "books%00.lance",
  "books%2f..%2ftagged",
  "books%0d%0aset-cookie:%20a=b",
  "/",
  "//",
  "%2fetc%2fpasswd",
  ".lance-migrate",
  ".lance-migrate%2f..",
  ".LANCE-MIGRATE",
  "books.lance",
  "__proto__",
  "constructor",
  "toString",
  "CON",
  "a%20b",
  "%20",
  "%",
  "%zz",
  "%c3%28",
  "%ff",
  "\u00fc\u4e2d\u{1f600}",
  "%e2%80%ae",
  "a%09b",
  "a$b",
  "$",
  "$$",
  "~",
  "-",
  "--help",
  "*",
  "a*",
  "{a}",
  "a;b",
  "a%3fb",
  "a%23b",
  "'",
  "%22",
  "n".repeat(255),
  "n".repeat(300),
  "n".repeat(5_000),
  "%f0%9f%98%80".repeat(100),
];

/** As it stands in a path. */
export function tableName(chance: Chance): string {
  if (chance.happens(0.85)) return chance.pick(fuzzedTables);
  if (chance.happens(0.3)) return chance.pick(linkedTables);
  if (chance.happens(0.3)) return chance.pick(["missing", "moved", "fresh"]);
  return chance.pick(hostileNames);
}

/** As it stands in a body. */
export function anyName(chance: Chance): string {
  if (chance.happens(0.5)) return chance.pick(["moved", "fresh", "books", ...linkedTables]);
  const name = chance.pick(hostileNames);
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

const columns = ["id", "title", "price", "vector", "source.lang", "source", "tags", "day"];

export function columnName(chance: Chance): string {
  return chance.happens(0.9)
    ? chance.pick(columns)
    : chance.pick([
        anyName(chance),
        "`id`",
        '"id"',
        "a.b.c.d",
        "",
        " ",
        "id,title",
        "_rowid",
        "_distance",
        "x".repeat(9_000),
      ]);
}

const plainFilters = [
  "id > 2",
  "id = 1 OR title = 'a'",
  "title LIKE 'b%'",
  "price BETWEEN 1 AND 3",
  "id IN (1, 2, 3)",
  "title IS NULL",
  "source.lang = 'en'",
  "array_has(tags, 'x')",
  "NOT (id < 100)",
  "true",
];

const pieces = [
  "id",
  "title",
  "price",
  "vector",
  "source.lang",
  "tags",
  "1",
  "-1",
  "9223372036854775807",
  "1e308",
  "'a'",
  "''",
  "NULL",
  "true",
  "+",
  "-",
  "*",
  "/",
  "%",
  "||",
  "=",
  "<>",
  "<",
  "AND",
  "OR",
  "NOT",
  "(",
  ")",
  "[",
  "]",
  ",",
  ";",
  "--",
  "/*",
  "*/",
  "'",
  '"',
  "`",
  "\\",
  "\0",
  "\n",
  "::int",
  "IS NULL",
  "IN (1)",
  "LIKE '%'",
  "CASE WHEN id THEN 1 END",
  "CAST(id AS text)",
  "SELECT 1",
  "(SELECT 1)",
  "EXISTS (SELECT 1)",
  "sum(id)",
  "row_number() OVER ()",
  "now()",
  "random()",
  "nofunc(id)",
  "$1",
  "?",
  "@a",
  "\u{1f600}",
  "INTERVAL '1 day'",
  "DATE '2020-01-01'",
  "0x41",
  "1/0",
  "id/0",
  "array[1,2]",
  "make_array(id)",
  "struct(1)",
  "regexp_like(title, '(a+)+$')",
  "to_timestamp('x')",
  "substr(title, -1)",
  "encode(title, 'base64')",
  "md5(title)",
];

const deep: readonly ((times: number) => string)[] = [
  (times) => `1 = 1${" + 1".repeat(times)}`,
  (times) => `${"(".repeat(times)}id = 1${")".repeat(times)}`,
  (times) => `${"NOT ".repeat(times)}true`,
  (times) => `${"-".repeat(times)}1 = 1`,
  (times) => `${"- ".repeat(times)}1 = 1`,
  (times) => `id = 1${"::bigint".repeat(times)}`,
  (times) => `id = ${"abs(".repeat(times)}1${")".repeat(times)}`,
  (times) => `title = 'a'${" || 'b'".repeat(times)}`,
  (times) => `id = 1${" OR id = 2".repeat(times)}`,
  (times) => `${"CASE WHEN true THEN ".repeat(times)}1${" END".repeat(times)} = 1`,
  (times) => `id IN (${"1,".repeat(times)}1)`,
  (times) => `${"[".repeat(times)}1${"]".repeat(times)} = 1`,
  (times) => `id = ${"1 BETWEEN ".repeat(times)}1`,
  (times) => `${"a.".repeat(times)}b = 1`,
  (times) => `id${"[1]".repeat(times)} = 1`,
  (times) => `title LIKE '${"%a".repeat(times)}'`,
  (times) => `title ~ '${"(a*)*".repeat(times)}b'`,
  (times) => `'${"''".repeat(times)}`,
  (times) => `${"/*".repeat(times)} id = 1`,
  (times) => `id = ${"9".repeat(times)}`,
  (times) => `"${"x".repeat(times)}" = 1`,
  (times) => `id IS ${"NOT ".repeat(times)}NULL`,
  (times) => `id = CAST(${"CAST(".repeat(times)}1${" AS INT)".repeat(times)} AS INT)`,
];

/** What takes much memory or time. Rare, because a worker may end with it. */
const costly = [
  "array_length(array_repeat(1, 1000000000)) > 0",
  "length(repeat('x', 1000000000)) > 0",
  "length(rpad('x', 2000000000)) > 0",
  "length(lpad(title, 2147483647, 'y')) > 0",
  "array_length(range(0, 200000000 + id)) > 0",
  "array_length(generate_series(1, 1000000000)) > 0",
  "levenshtein(repeat('a', 30000), repeat('b', 30000)) > 0",
  "length(replace(repeat('a', 10000000), 'a', repeat('b', 100))) > 0",
  "array_length(array_resize([1], 1000000000, 2)) > 0",
];

export function sql(chance: Chance): string {
  const kind = chance.next();
  if (kind < 0.5) return chance.pick(plainFilters);
  if (kind < 0.8) return Array.from({ length: 1 + chance.below(12) }, () => chance.pick(pieces)).join(" ");
  if (kind < 0.985) return chance.pick(deep)(1 + chance.below(chance.pick([10, 100, 500, 3_000])));
  if (kind < 0.99) return `id = 1 -- ${"x".repeat(chance.pick([10, 2 ** 20, 2 ** 21]))}`;
  return chance.pick(costly);
}
