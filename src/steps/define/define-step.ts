/** What a step kind is. A migration holds steps as plain data; a definition knows what to make of them. */
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
  /** What a step of this kind holds; zod refuses the rest. */
  readonly fields: z.ZodObject<Shape>;
  /** From the builder's arguments to the fields, unchecked: zod names what is wrong, with the file and the step. */
  readonly build: (...args: Args) => unknown;
  /** What targets execute for it. */
  readonly compile: (step: z.output<z.ZodObject<Shape>>) => readonly Action[];
  /** The builder's arguments, as they are written in a migration. */
  readonly source: (step: z.output<z.ZodObject<Shape>>) => readonly Source[];
  /** How it is written on the command line of `migrate new`. */
  readonly flags: readonly StepFlag[];
  /** What of it is otherwise where tables and columns have other names, besides its `table` and its `path`. */
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
  /** What its value looks like, such as `TABLE.COLUMN:NAME`. */
  readonly form: string;
  /** The step's fields, unchecked: zod names what is wrong. */
  readonly read: (notation: Notation) => Readonly<Record<string, unknown>>;
}

/** Plain data of one kind: what migrations export. */
export type StepOf<Kind extends string, Fields> = Readonly<{ kind: Kind } & Fields>;

declare const effect: unique symbol;

/** A step that TypeScript knows to lead from one database to the next; see `after`. */
export interface StepOn<Before, After> {
  readonly kind: string;
  readonly table: string;
  /** Known to TypeScript alone. */
  readonly [effect]?: (before: Before) => After;
}

/** What a builder makes whose step is checked in `after`. */
export type CheckedStep<Kind extends string, Fields, Before, After> = StepOf<Kind, Fields> & StepOn<Before, After>;

/** A builder with its definition attached, so that one export is all that a step kind needs. */
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
  /** What of it is otherwise there, besides its `table` and its `path`. */
  readonly moved: (step: StepOf<Kind, z.output<z.ZodObject<Shape>>>, to: Moving) => object;
}

/** What it makes may be called by an interface of its own, with which TypeScript checks the steps of `after`. */
export function defineStep<
  const Kind extends string,
  Args extends readonly unknown[],
  Shape extends z.ZodRawShape,
  Builder extends StepDefinition<Kind, Shape> = StepKind<Kind, Args, Shape>,
>(definition: Definition<Kind, Args, Shape>): Builder {
  const { kind, fields, build, compile, source, flags, moved = () => ({}) } = definition;
  type Step = StepOf<Kind, z.output<z.ZodObject<Shape>>>;
  // The step is checked when its migration is loaded, where the file and the step's number are known.
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

/** The name of a table, checked closer by the fold. */
export const tableName = z.string("has to be the name of a table").min(1, "has to be the name of a table");

/** A dotted path to a column. */
export const columnPath = z.string("has to be the path of a column").min(1, "has to be the path of a column");

/** A name, of an index or the like. */
export const ownName = (of: string) =>
  z
    .string(`has to be the name of ${of}`)
    .min(1, `has to be the name of ${of}`)
    .refine((name) => name !== "." && name !== "..", "can't be . or .., which lead elsewhere in an address");

/** An SQL expression, as the engine reads it. */
export const sql = z
  .string("has to be an SQL expression")
  .min(1, "has to be an SQL expression")
  .superRefine((expression, context) => {
    const problem = sqlProblem(expression);
    if (problem !== undefined) context.addIssue({ code: "custom", message: problem });
  });

/** The type behind a builder such as `int64()`, for steps in which nullability has no place. */
export function typeOf(column: ColumnType): DataType {
  // The mark is no type; zod refuses it with a sentence that tells the way out.
  return column?.nullable === false ? (notNullMark as unknown as DataType) : column?.type;
}

export { dataType };
