/** Defines step kinds. A migration contains steps as plain data; the definition of their kind interprets them. */
import type { Action } from "../../actions/model/action.ts";
import { notNullMark } from "../../schema/declare/not-null-mark.ts";
import type { Moving } from "./name-map.ts";
import type { Notation } from "../../schema/text/parse-notation.ts";
import { typeSource, valueSource, type Source } from "../../schema/text/typescript-source.ts";
import type { ColumnType } from "../../schema/typed/shape.ts";
import { ownValue, type DataType } from "../../schema/data-type.ts";
import { built } from "./call-sites.ts";
import type { FieldSchemas, FieldsOf } from "./fields.ts";

export * from "./computation-fields.ts";
export * from "./fields.ts";

interface Definition<Kind extends string, Args extends readonly unknown[], Shape extends FieldSchemas> {
  /** The name of the step in migrations, plans and the ledger; equal to the name of the builder. */
  readonly kind: Kind;
  /** The fields of a step of this kind, in the order of the builder's arguments; zod refuses all others. */
  readonly fields: Shape;
  /** The fields that are members of the builder's last argument. */
  readonly options?: readonly (keyof FieldsOf<Shape>)[];
  /** How arguments and options are converted that are not the fields themselves. */
  readonly arguments?: { readonly [Name in keyof FieldsOf<Shape>]?: Conversion<FieldsOf<Shape>[Name]> };
  /**
   * Converts the builder's arguments to the fields, if they do not correspond to each other. Checks nothing: zod reports
   * errors later, with file and step.
   */
  readonly build?: (...args: Args) => unknown;
  /** The builder's arguments as TypeScript, in the same case. */
  readonly source?: (step: FieldsOf<Shape>) => readonly Source[];
  /** What is wrong with fields that are valid one by one, as text. */
  readonly check?: (step: FieldsOf<Shape>) => string | undefined;
  /** The actions that a step compiles to. */
  readonly compile: (step: FieldsOf<Shape>) => readonly Action[];
  /** The flags of `migrate new` that make such a step. */
  readonly flags: readonly StepFlag[];
  /** The fields, besides `table` and `path`, that change if tables and columns have the names in `to`. */
  readonly moved?: (step: FieldsOf<Shape>, to: Moving) => Readonly<Partial<Record<keyof FieldsOf<Shape>, unknown>>>;
}

/** `build`: from the builder's argument to the field; `source`: from the field to the argument as TypeScript. */
interface Conversion<Value> {
  readonly build?: (argument: never) => unknown;
  readonly source: (value: NonNullable<Value>) => Source;
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
export type StepOf<Kind extends string, Values> = Readonly<{ kind: Kind } & Values>;

declare const effect: unique symbol;

/** A step with the type of the database before and after it; see `after`. */
export interface StepOn<Before, After> {
  readonly kind: string;
  readonly table: string;
  /** Exists only in TypeScript types. */
  readonly [effect]?: (before: Before) => After;
}

/** The result of a builder whose step TypeScript checks in `after`. */
export type CheckedStep<Kind extends string, Values, Before, After> = StepOf<Kind, Values> &
  // TypeScript infers `Before` from the step before this one alone.
  StepOn<Before, NoInfer<After>>;

/** What is attached to a builder, so that a step kind needs only one export. */
export interface StepDefinition<Kind extends string, Values> {
  readonly kind: Kind;
  readonly fields: FieldSchemas;
  readonly check: (step: StepOf<Kind, Values>) => string | undefined;
  readonly compile: (step: StepOf<Kind, Values>) => readonly Action[];
  readonly source: (step: StepOf<Kind, Values>) => readonly Source[];
  readonly flags: readonly StepFlag[];
  readonly moved: (step: StepOf<Kind, Values>, to: Moving) => object;
}

export interface PlainBuilder<Kind extends string, Args extends readonly unknown[], Values> extends StepDefinition<
  Kind,
  Values
> {
  (...args: Args): StepOf<Kind, Values>;
}

/**
 * Makes a builder. `Builder` may be an interface with its own call signature, by which TypeScript checks the steps of
 * `after`.
 */
export function defineStep<
  const Kind extends string,
  Args extends readonly unknown[],
  Shape extends FieldSchemas,
  Builder extends StepDefinition<Kind, FieldsOf<Shape>> = PlainBuilder<Kind, Args, FieldsOf<Shape>>,
>(definition: Definition<Kind, Args, Shape>): Builder {
  const { kind, fields, compile, flags, check = () => undefined, moved = () => ({}) } = definition;
  const { options = [], arguments: conversions = {} } = definition as AnyDefinition;
  const names = Object.keys(fields).filter((name) => !options.includes(name));
  const build = (...args: readonly unknown[]): object => {
    const own = names.map((name, index) => [name, args[index]] as const);
    const given = options.length > 0 ? Object.entries(args[names.length] ?? {}) : [];
    return Object.fromEntries(
      [...own, ...given].map(([name, value]) => [name, (ownValue(conversions, name)?.build ?? asItIs)(value)]),
    );
  };
  const sourceOf = (step: AnyStep, name: string) => (conversions[name]?.source ?? valueSource)(step[name]);
  const source = (step: AnyStep): readonly Source[] => {
    const given = options.filter((name) => step[name] !== undefined);
    const entries = given.map((name) => [name, sourceOf(step, name)] as const);
    return [
      ...names.map((name) => sourceOf(step, name)),
      ...(entries.length === 0 ? [] : [{ kind: "object" as const, entries }]),
    ];
  };
  // The step is checked when its migration is loaded, because the file and the step's number are known then.
  const builder = (...args: Args): object =>
    built({ kind, ...((definition.build ?? build)(...args) as object) }, builder);
  return Object.assign(builder, {
    kind,
    fields,
    check,
    compile,
    source: definition.source ?? source,
    flags,
    moved,
  }) as unknown as Builder;
}

type AnyStep = Readonly<Record<string, unknown>>;

/** A definition without the types of its fields. */
interface AnyDefinition {
  readonly options?: readonly string[];
  readonly arguments?: Readonly<
    Record<string, { readonly build?: (argument: unknown) => unknown; readonly source: (value: unknown) => Source }>
  >;
}

function asItIs(argument: unknown): unknown {
  return argument;
}

/** An argument such as `int64()`, for steps that take no nullability. */
export const typeArgument = { build: typeOf, source: typeSource };

/** The type that a builder such as `int64()` returns. */
export function typeOf(column: ColumnType): DataType {
  // The mark is not a type: zod refuses it with a message that states what to do instead.
  return column?.nullable === false ? (notNullMark as unknown as DataType) : column?.type;
}
