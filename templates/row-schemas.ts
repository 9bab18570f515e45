/** What is wrong with a row, and where. */
export interface RowIssue {
  readonly message: string;
  readonly path: readonly (string | number)[];
}

/** Checks a row before it is added, as a Standard Schema does (https://standardschema.dev). */
export interface RowSchema<Row> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: "lance-migrate";
    readonly types?: { readonly input: Row; readonly output: Row };
    readonly validate: (value: unknown) => RowResult<Row>;
  };
}

export type RowResult<Row> =
  | { readonly value: Row; readonly issues?: undefined }
  | { readonly issues: readonly RowIssue[] };

/** A number must be a safe integer. */
export type Int64 = bigint | number;

/** A number is milliseconds since 1970. */
export type Moment = Date | number;

/** An array, a typed array, or a list of a row that was read. */
export type Items<Item> = object & Iterable<Item> & { readonly length: number };

type Path = readonly (string | number)[];
/** Adds an issue. */
type Report = (message: string, path: Path) => undefined;
/** Returns the value in the form that the client stores unchanged. */
type Check = (value: unknown, path: Path, report: Report) => unknown;

interface Field {
  readonly name: string;
  readonly check: Check;
  readonly nullable: boolean;
}

const mostIssues = 100;
const day = 86_400;
const units = { s: 1, ms: 1e3, us: 1e6, ns: 1e9 };
type Unit = keyof typeof units;

function must(be: string, isRight: (value: unknown) => boolean): Check {
  return (value, path, report) =>
    isRight(value) ? value : report(`must be ${be}`, path);
}

function isWithin(value: unknown, least: number, most: number): boolean {
  return typeof value === "number" && value >= least && value <= most;
}

function integer(least: number, most: number): Check {
  const isRight = (value: unknown) =>
    Number.isInteger(value) && isWithin(value, least, most);
  return must(`an integer from ${least} to ${most}`, isRight);
}

/** A number becomes a bigint, because the client takes no numbers in a list. */
function bigInteger(least: bigint, most: bigint): Check {
  return (value, path, report) => {
    const big = Number.isSafeInteger(value) ? BigInt(value as number) : value;
    if (typeof big === "bigint" && big >= least && big <= most) return big;
    return report(
      `must be a bigint or an integer from ${least} to ${most}`,
      path,
    );
  };
}

/** The client stores infinity for a finite number that is too large. */
function float32(): Check {
  const most = 3.4028234663852886e38;
  return must("a number that float32 can hold", (value) => {
    if (typeof value !== "number") return false;
    return !Number.isFinite(value) || isWithin(value, -most, most);
  });
}

/** The nearest value of a float16: the client rounds some numbers to half of their size. */
function float16(): Check {
  return (value, path, report) => {
    const half = typeof value === "number" ? nearestHalf(value) : NaN;
    const isRight = !Number.isFinite(value) || Math.abs(half) <= 65_504;
    return typeof value === "number" && isRight
      ? half
      : report("must be a number that float16 can hold", path);
  };
}

function nearestHalf(value: number): number {
  if (value === 0 || !Number.isFinite(value)) return value;
  const exponent = Math.floor(Math.log2(Math.abs(value)));
  const step = 2 ** (Math.max(exponent, -14) - 10);
  const steps = value / step;
  const down = Math.floor(steps);
  const isUp = steps - down > 0.5 || (steps - down === 0.5 && down % 2 !== 0);
  return (isUp ? down + 1 : down) * step;
}

/** Milliseconds since 1970, of which the client stores `count` units. */
function moment(
  what: string,
  isWhole: (time: number) => boolean,
  most = 8.64e15,
): Check {
  return (value, path, report) => {
    const time = value instanceof Date ? value.getTime() : value;
    if (isWithin(time, -most, most) && isWhole(time as number)) return time;
    return report(`must be a Date, or milliseconds since 1970, ${what}`, path);
  };
}

function bytes(what: string, isRight: (value: Uint8Array) => boolean): Check {
  return must(
    `a Uint8Array${what}`,
    (value) => value instanceof Uint8Array && isRight(value),
  );
}

/** The signed integer of 128 bits in four words, the lowest first. */
function integerOf(words: Uint32Array): bigint {
  return BigInt.asIntN(
    128,
    words.reduceRight((sum, word) => (sum << 32n) | BigInt(word), 0n),
  );
}

function isLessThan(limit: bigint, value: bigint): boolean {
  return value < limit && value > -limit;
}

/** `isLength`: whether a list may have this many values. */
function items(
  what: string,
  item: Field,
  isLength: (length: number) => boolean = () => true,
): Check {
  return (value, path, report) => {
    if (!isList(value) || !isLength(value.length))
      return report(`must be ${what}`, path);
    return [...value].map((one, index) =>
      checked(item, one, [...path, index], report),
    );
  };
}

/** The lists of the client's rows have toArray. */
function isList(value: unknown): value is Items<unknown> {
  if (typeof value !== "object" || value === null) return false;
  const isTyped = ArrayBuffer.isView(value) && !(value instanceof DataView);
  return Array.isArray(value) || isTyped || hasMethod(value, "toArray");
}

function hasMethod(value: object, name: "toArray" | "toJSON"): boolean {
  return typeof (value as Record<string, unknown>)[name] === "function";
}

function checked(
  field: Field,
  value: unknown,
  path: Path,
  report: Report,
): unknown {
  if (value !== null && value !== undefined)
    return field.check(value, path, report);
  return field.nullable ? null : report("must not be null", path);
}

/** Any other object would be stored without what it holds. */
function fieldsOf(value: unknown): ReadonlyMap<string, unknown> | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  // The structs and rows that the client gives have toJSON.
  const plain: unknown =
    !isPlain(value) && hasMethod(value, "toJSON")
      ? (value as { toJSON(): unknown }).toJSON()
      : value;
  if (typeof plain !== "object" || plain === null || !isPlain(plain))
    return undefined;
  return new Map<string, unknown>(Object.entries(plain));
}

function isPlain(value: object): boolean {
  const above: unknown = Object.getPrototypeOf(value);
  if (Array.isArray(value)) return false;
  return above === null || Object.getPrototypeOf(above) === null;
}

/** A column may be left out of a row; what is left out of a struct becomes null. */
function objectOf(kind: "row" | "struct", fields: readonly Field[]): Check {
  const names = new Set(fields.map(({ name }) => name));
  return (value, path, report) => {
    const given = fieldsOf(value);
    if (given === undefined) return report("must be a plain object", path);
    for (const [name, one] of given)
      if (!names.has(name) && one !== undefined && one !== null)
        report("is not a column of new rows", [...path, name]);
    const all = fields.map((field) => {
      const { name } = field;
      const one = checked(field, given.get(name), [...path, name], report);
      // The client would take what every object has under this name.
      const isNeeded =
        name in {} || kind === "struct" || structs.has(field.check);
      return { name, one, isKept: isNeeded || given.get(name) !== undefined };
    });
    // An empty struct would be stored as null.
    const isEmpty = all.every(({ one }) => one === null);
    const kept = all.filter(({ isKept }) => isKept || isEmpty);
    return Object.fromEntries(kept.map(({ name, one }) => [name, one]));
  };
}

/**
 * A struct is never left out, and has all its fields: where another row has one, the client would store values that nobody
 * gave, and a search would fail where all rows lack a field.
 */
const structs = new WeakSet<Check>();

const text: Check = must(
  "a string without lone surrogates",
  (value) => typeof value === "string" && !/\p{Surrogate}/u.test(value),
);

function isJson(value: unknown): boolean {
  if (typeof value !== "string" || /\p{Surrogate}/u.test(value)) return false;
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
}

const check = {
  row<Row>(...fields: readonly Field[]): RowSchema<Row> {
    const ofFields = objectOf("row", fields);
    const validate = (value: unknown): RowResult<Row> => {
      const issues: RowIssue[] = [];
      const report = (message: string, path: Path) =>
        void (issues.length < mostIssues && issues.push({ message, path }));
      try {
        const row = ofFields(value, [], report);
        return issues.length > 0 ? { issues } : { value: row as Row };
      } catch (error) {
        return { issues: [{ message: `can't be read: ${error}`, path: [] }] };
      }
    };
    return { "~standard": { version: 1, vendor: "lance-migrate", validate } };
  },
  required: (name: string, check: Check): Field => ({
    name,
    check,
    nullable: false,
  }),
  nullable: (name: string, check: Check): Field => ({
    name,
    check,
    nullable: true,
  }),
  struct(...fields: readonly Field[]): Check {
    const struct = objectOf("struct", fields);
    structs.add(struct);
    return struct;
  },
  list: (item: Field): Check => items("a list", item),
  fixedSizeList: (length: number, item: Field): Check =>
    items(`a list of ${length} values`, item, (given) => given === length),
  /** The engine refuses NaN in a vector. No search finds the row of a vector with a null. */
  vector(length: number, item: Check): Check {
    const number: Check = (value, path, report) =>
      Number.isNaN(value)
        ? report("must not be NaN", path)
        : item(value, path, report);
    const field = { name: "item", check: number, nullable: false };
    return items(`${length} numbers`, field, (given) => given === length);
  },
  int8: (): Check => integer(-(2 ** 7), 2 ** 7 - 1),
  int16: (): Check => integer(-(2 ** 15), 2 ** 15 - 1),
  int32: (): Check => integer(-(2 ** 31), 2 ** 31 - 1),
  uint8: (): Check => integer(0, 2 ** 8 - 1),
  uint16: (): Check => integer(0, 2 ** 16 - 1),
  uint32: (): Check => integer(0, 2 ** 32 - 1),
  int64: (): Check => bigInteger(-(2n ** 63n), 2n ** 63n - 1n),
  uint64: (): Check => bigInteger(0n, 2n ** 64n - 1n),
  float16,
  float32,
  float64: (): Check => must("a number", (value) => typeof value === "number"),
  bool: (): Check => must("a boolean", (value) => typeof value === "boolean"),
  utf8: (): Check => text,
  json: (): Check => must("JSON text", isJson),
  binary: (): Check => bytes("", () => true),
  fixedSizeBinary: (length: number): Check =>
    bytes(` of ${length} bytes`, (value) => value.length === length),
  date32: (): Check =>
    moment("at midnight in UTC", (time) => time % (day * 1e3) === 0),
  date64: (): Check => moment("without a fraction", Number.isInteger),
  timestamp(unit: Unit): Check {
    if (unit === "s")
      return moment("at a whole second", (time) => time % 1e3 === 0);
    if (unit === "ms") return moment("without a fraction", Number.isInteger);
    if (unit === "us")
      return moment("at a whole microsecond", (time) =>
        Number.isInteger(time * 1e3),
      );
    return moment(
      "between 1677 and 2262",
      (time) => Number.isInteger(time * 1e6),
      9_223_372_036_854,
    );
  },
  time32: (unit: Unit): Check => integer(0, day * units[unit] - 1),
  time64: (unit: Unit): Check => bigInteger(0n, BigInt(day * units[unit] - 1)),
  duration: (): Check => bigInteger(-(2n ** 63n), 2n ** 63n - 1n),
  decimal128: (precision: number): Check =>
    must(
      `a Uint32Array of four words, with at most ${precision} digits`,
      (value) =>
        value instanceof Uint32Array &&
        value.length === 4 &&
        isLessThan(10n ** BigInt(precision), integerOf(value)),
    ),
};

// Everything above is copied into the file of migrate types, and followed by such types and schemas.
type ExampleInput = {
  id: Int64;
  title?: string | null;
};

export const exampleInput: RowSchema<ExampleInput> = check.row(
  check.required("id", check.int64()),
  check.nullable("title", check.utf8()),
);
