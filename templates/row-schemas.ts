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
export type Items<Item> = Iterable<Item> & object;

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

/** The client stores another number, or infinity, for a finite number beyond the limits. */
function float(kind: string, most: number, least: number): Check {
  return must(`a number that ${kind} can hold`, (value) => {
    if (typeof value !== "number") return false;
    const size = Math.abs(value);
    return size === 0 || !Number.isFinite(size) || isWithin(size, least, most);
  });
}

/** Milliseconds since 1970, of which the client stores `count` units. */
function moment(
  what: string,
  count: (time: number) => number,
  most = 8.64e15,
): Check {
  return (value, path, report) => {
    const time = value instanceof Date ? value.getTime() : value;
    if (isWithin(time, -most, most) && Number.isInteger(count(time as number)))
      return time;
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

function items(
  what: string,
  item: Field,
  isRight: (items: readonly unknown[]) => boolean,
): Check {
  return (value, path, report) => {
    const all =
      typeof value === "object" && value !== null && Symbol.iterator in value
        ? [...(value as Items<unknown>)]
        : undefined;
    if (all === undefined || !isRight(all))
      return report(`must be ${what}`, path);
    return all.map((one, index) =>
      checked(item, one, [...path, index], report),
    );
  };
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

function objectOf(fields: readonly Field[]): Check {
  return (value, path, report) => {
    if (
      typeof value !== "object" ||
      value === null ||
      Symbol.iterator in value ||
      value instanceof Date
    )
      return report("must be an object", path);
    const given = new Map<string, unknown>(Object.entries(value));
    const names = new Set(fields.map(({ name }) => name));
    for (const [name, one] of given)
      if (!names.has(name) && one !== undefined && one !== null)
        report("is not a column of new rows", [...path, name]);
    const all = fields.map(
      (field) =>
        [
          field.name,
          checked(field, given.get(field.name), [...path, field.name], report),
          field.check,
        ] as const,
    );
    // The client refuses a batch in which all values of a bool are null, unless they are left out.
    const known = all.filter(
      ([, one, check]) => one !== null || check !== bool,
    );
    return Object.fromEntries(known.length > 0 ? known : all);
  };
}

const bool: Check = must("a boolean", (value) => typeof value === "boolean");
const text: Check = must(
  "a string without lone surrogates",
  (value) => typeof value === "string" && !/\p{Surrogate}/u.test(value),
);

const check = {
  row<Row>(...fields: readonly Field[]): RowSchema<Row> {
    const ofFields = objectOf(fields);
    const validate = (value: unknown): RowResult<Row> => {
      const issues: RowIssue[] = [];
      const report = (message: string, path: Path) =>
        void issues.push({ message, path });
      const row = ofFields(value, [], report);
      return issues.length > 0 ? { issues } : { value: row as Row };
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
  struct: (...fields: readonly Field[]): Check => objectOf(fields),
  list: (item: Field): Check =>
    items("an iterable of values", item, () => true),
  fixedSizeList: (length: number, item: Field): Check =>
    items(
      `an iterable of ${length} values`,
      item,
      (all) => all.length === length,
    ),
  /** The engine refuses NaN in a vector. A null in one is stored, and no search finds the row. */
  vector: (length: number, item: Check): Check =>
    items(
      `${length} numbers`,
      { name: "item", check: item, nullable: false },
      (all) => all.length === length && !all.some((one) => Number.isNaN(one)),
    ),
  int8: (): Check => integer(-(2 ** 7), 2 ** 7 - 1),
  int16: (): Check => integer(-(2 ** 15), 2 ** 15 - 1),
  int32: (): Check => integer(-(2 ** 31), 2 ** 31 - 1),
  uint8: (): Check => integer(0, 2 ** 8 - 1),
  uint16: (): Check => integer(0, 2 ** 16 - 1),
  uint32: (): Check => integer(0, 2 ** 32 - 1),
  int64: (): Check => bigInteger(-(2n ** 63n), 2n ** 63n - 1n),
  uint64: (): Check => bigInteger(0n, 2n ** 64n - 1n),
  float16: (): Check => float("float16", 65_504, 2 ** -24),
  float32: (): Check => float("float32", 3.4028234663852886e38, 0),
  float64: (): Check => must("a number", (value) => typeof value === "number"),
  bool: (): Check => bool,
  utf8: (): Check => text,
  binary: (): Check => bytes("", () => true),
  fixedSizeBinary: (length: number): Check =>
    bytes(` of ${length} bytes`, (value) => value.length === length),
  date32: (): Check =>
    moment("at midnight in UTC", (time) => time / (day * 1e3)),
  date64: (): Check => moment("without a fraction", (time) => time),
  timestamp(unit: Unit): Check {
    if (unit === "s") return moment("at a whole second", (time) => time / 1e3);
    if (unit === "ms") return moment("without a fraction", (time) => time);
    if (unit === "us")
      return moment("at a whole microsecond", (time) => time * 1e3);
    return moment(
      "between 1677 and 2262",
      (time) => time * 1e6,
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
