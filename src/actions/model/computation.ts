/** How code of a project, or SQL, computes the values of a column. */
export interface Computation {
  /** The columns that the code reads. */
  readonly from: readonly string[];
  /** The column that identifies rows: its values are unique and not null. */
  readonly key: string;
  /** The path of a module of the project, a command that speaks JSON lines, or an SQL expression over the columns of `from`. */
  readonly with: string | { readonly command: readonly string[] } | { readonly sql: string };
  /** The version of the code, as users state it. */
  readonly version: string;
  /** An SQL predicate; all rows when absent. */
  readonly where?: string | undefined;
  /** How many rows each call computes; 64 when absent. */
  readonly batch?: number | undefined;
  /** How many calls are under way at once; 4 when absent. */
  readonly concurrency?: number | undefined;
  /** How many calls may begin each minute; any number when absent. */
  readonly callsPerMinute?: number | undefined;
  /** How many seconds a call may take; 60 when absent. */
  readonly callSeconds?: number | undefined;
  /** Whether a row whose value can't be computed stops the run, as it does when absent, or stays null. */
  readonly failedRows?: "stop" | "leave" | undefined;
  /** Whether rows with equal sources are computed once, as they are when absent, or each. */
  readonly equalRows?: "once" | "each" | undefined;
  /** What 1,000 rows cost, in any currency, for plans. */
  readonly pricePer1000Rows?: number | undefined;
}

/** The SQL expression that computes the values; undefined if code does. */
export function computationSql({ with: code }: Pick<Computation, "with">): string | undefined {
  return typeof code !== "string" && "sql" in code ? code.sql : undefined;
}

/** What computes the values, as text. */
export function nameOfCode(code: Computation["with"]): string {
  if (typeof code === "string") return code;
  return "sql" in code ? code.sql : code.command.join(" ");
}

/** Of how many rows the first page is that a run computes, before it is known how large their sources are. */
export const firstPageRows = 500;

/** What applies if an option is absent. */
export const usual = { batch: 64, concurrency: 4 };

/** With which queries of the application the new values of a column are evaluated before it is switched. */
export interface Evaluation {
  /** The path of a module of the project. */
  readonly file: string;
  /** How many rows each query looks for; 10 when absent. */
  readonly k?: number | undefined;
  /** The least share, from 0 to 1, of the rows that are expected, or else of those that the old values give. */
  readonly least?: number | undefined;
}

/** `old`: the code that computes old vectors of queries, if there is any. */
export interface EvaluateWith extends Evaluation {
  readonly old?: Pick<Computation, "with" | "version"> | undefined;
}
