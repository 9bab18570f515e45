/** Defines step kinds. A migration contains steps as plain data; the definition of their kind interprets them. */
import { z } from "zod";
import type { Action } from "../../actions/model/action.ts";
import { dataType, notNullMark } from "../../schema/declare/validate.ts";
import type { Moving } from "./name-map.ts";
import type { Notation } from "../../schema/text/parse-notation.ts";
import type { Source } from "../../schema/text/typescript-source.ts";
import { sqlProblem } from "../../schema/sql.ts";
import type { ColumnType } from "../../schema/typed/shape.ts";
import type { DataType } from "../../schema/data-type.ts";
import { built } from "./call-sites.ts";

interface Definition<Kind extends string, Args extends readonly unknown[], Shape extends z.ZodRawShape> {
  /** The name of the step in migrations, plans and the ledger; equal to the name of the builder. */
  readonly kind: Kind;
  /** The fields of a step of this kind; zod refuses all others. */
  readonly fields: z.ZodObject<Shape>;
  /**
   * Converts the builder's arguments to the fields. It checks nothing: zod reports errors later, with file and step.
   */
  readonly build: (...args: Args) => unknown;
  /** The actions that a step compiles to. */
  readonly compile: (step: z.output<z.ZodObject<Shape>>) => readonly Action[];
  /** The builder's arguments as TypeScript, as they are written in a migration. */
  readonly source: (step: z.output<z.ZodObject<Shape>>) => readonly Source[];
  /** The flags of `migrate new` that make such a step. */
  readonly flags: readonly StepFlag[];
  /** The fields, besides `table` and `path`, that change if tables and columns have the names in `to`. */
  readonly moved?: (
    step: z.output<z.ZodObject<Shape>>,
    to: Moving,
  ) => Readonly<Partial<Record<keyof z.output<z.ZodObject<Shape>>, unknown>>>;
}

/** A flag of `migrate new` that makes a step. */
export interface StepFlag {
  /** Without dashes. */
  readonly name: string;
  readonly describe: string;
  /** The form of its value, such as `TABLE.COLUMN:NAME`. */
  readonly form: string;
  /** Reads the step's fields. It does not check them: zod reports errors later. */
  readonly read: (notation: Notation) => Readonly<Record<string, unknown>>;
}

/** A step of one kind as plain data, as migrations export it. */
export type StepOf<Kind extends string, Fields> = Readonly<{ kind: Kind } & Fields>;

declare const effect: unique symbol;

/** A step with the type of the database before and after it; see `after`. */
export interface StepOn<Before, After> {
  readonly kind: string;
  readonly table: string;
  /** Exists only in TypeScript types. */
  readonly [effect]?: (before: Before) => After;
}

/** The result of a builder whose step TypeScript checks in `after`. */
export type CheckedStep<Kind extends string, Fields, Before, After> = StepOf<Kind, Fields> & StepOn<Before, After>;

/** A builder with its definition attached, so that a step kind needs only one export. */
export interface StepKind<
  Kind extends string,
  Args extends readonly unknown[],
  Shape extends z.ZodRawShape,
> extends StepDefinition<Kind, Shape> {
  (...args: Args): StepOf<Kind, z.output<z.ZodObject<Shape>>>;
}

export interface StepDefinition<Kind extends string, Shape extends z.ZodRawShape> {
  readonly kind: Kind;
  readonly schema: z.ZodType<StepOf<Kind, z.output<z.ZodObject<Shape>>>>;
  readonly compile: (step: StepOf<Kind, z.output<z.ZodObject<Shape>>>) => readonly Action[];
  readonly source: (step: StepOf<Kind, z.output<z.ZodObject<Shape>>>) => readonly Source[];
  readonly flags: readonly StepFlag[];
  /** The fields, besides `table` and `path`, that change if tables and columns have the names in `to`. */
  readonly moved: (step: StepOf<Kind, z.output<z.ZodObject<Shape>>>, to: Moving) => object;
}

/**
 * Makes a builder. `Builder` may be an interface with its own call signature, by which TypeScript checks the steps of
 * `after`.
 */
export function defineStep<
  const Kind extends string,
  Args extends readonly unknown[],
  Shape extends z.ZodRawShape,
  Builder extends StepDefinition<Kind, Shape> = StepKind<Kind, Args, Shape>,
>(definition: Definition<Kind, Args, Shape>): Builder {
  const { kind, fields, build, compile, source, flags, moved = () => ({}) } = definition;
  type Step = StepOf<Kind, z.output<z.ZodObject<Shape>>>;
  // The step is checked when its migration is loaded, because the file and the step's number are known then.
  const builder = (...args: Args): Step => built({ kind, ...(build(...args) as object) } as Step, builder);
  const schema = z.strictObject({ kind: z.literal(kind), ...fields.shape }) as unknown as z.ZodType<Step>;
  return Object.assign(builder, {
    kind,
    schema,
    compile: compile as (step: Step) => readonly Action[],
    source: source as (step: Step) => readonly Source[],
    flags,
    moved: moved as (step: Step, to: Moving) => object,
  }) as unknown as Builder;
}

/** The name of a table. The models of actions check it further. */
export const tableName = z.string("must be the name of a table").min(1, "must be the name of a table");

/** A dotted path to a column. */
export const columnPath = z.string("must be the path of a column").min(1, "must be the path of a column");

/** A name, such as that of an index. `of`: its description, for messages. */
export const ownName = (of: string) =>
  z
    .string(`must be the name of ${of}`)
    .min(1, `must be the name of ${of}`)
    .refine((name) => name !== "." && name !== "..", "can't be . or .., which lead elsewhere in an address");

/** An SQL expression. */
export const sql = z
  .string("must be an SQL expression")
  .min(1, "must be an SQL expression")
  .superRefine((expression, context) => {
    const problem = sqlProblem(expression);
    if (problem !== undefined) context.addIssue({ code: "custom", message: problem });
  });

/** The type that a builder such as `int64()` returns, for steps that take no nullability. */
export function typeOf(column: ColumnType): DataType {
  // The mark is not a type: zod refuses it with a message that states what to do instead.
  return column?.nullable === false ? (notNullMark as unknown as DataType) : column?.type;
}

export { dataType };
