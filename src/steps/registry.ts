/** Operations on steps of any kind. */
import { types } from "node:util";
import type { z } from "zod";
import type { Action } from "../actions/model/action.ts";
import { MigrateError } from "../errors/migrate-error.ts";
import type { Moving } from "./define/name-map.ts";
import { similarName } from "../schema/names.ts";
import { notationOf } from "../schema/text/parse-notation.ts";
import { call, type Source } from "../schema/text/typescript-source.ts";
import * as kinds from "./index.ts";
import type { FieldSchemas, StepFlag } from "./define/define-step.ts";
import * as schemas from "./define/schemas.ts";

type Kinds = typeof kinds;

/** A step of any kind, as plain data. */
export type Step = Parameters<Kinds[keyof Kinds]["compile"]>[0];
export type StepName = keyof Kinds;

// Does not compile if a kind is exported under a name other than its own.
const registry: { readonly [Name in StepName]: { readonly kind: Name } } = kinds;

interface AnyKind {
  readonly fields: FieldSchemas;
  readonly check: (step: Step) => string | undefined;
  readonly compile: (step: Step) => readonly Action[];
  readonly source: (step: Step) => readonly Source[];
  readonly flags: readonly StepFlag[];
  readonly moved: (step: Step, to: Moving) => object;
}

export const stepNames = Object.keys(registry) as readonly StepName[];

/** The actions that a step compiles to. */
export function compileStep(step: Step): readonly Action[] {
  return kindOf(step.kind).compile(step);
}

/** The same step with the names that tables and columns have at another point. Throws ERR_MOVED. */
export function moveStep(step: Step, to: Moving): Step {
  const { table } = step;
  const path = "path" in step ? { path: to.path(table, step.path) } : {};
  return { ...step, ...path, ...kindOf(step.kind).moved(step, to), table: to.table(table) } as Step;
}

/** The builder's call for a step, as a migration contains it. */
export function stepSource(step: Step): Source {
  return call(step.kind, ...kindOf(step.kind).source(step));
}

/** The flags of `migrate new` that make steps, by name. */
export const stepFlags: ReadonlyMap<string, StepFlag & { readonly kind: StepName }> = new Map(
  stepNames.flatMap((kind) => kindOf(kind).flags.map((flag) => [flag.name, { ...flag, kind }])),
);

/** Parses the value of one of these flags as a step. Throws ERR_NOTATION. */
export function readStep(flag: StepFlag & { readonly kind: StepName }, text: string): Step {
  const { name, form, kind, read } = flag;
  const notation = notationOf(text, name, form);
  const fields = read(notation);
  notation.end();
  const parsed = parseStep({ kind, ...fields });
  if ("step" in parsed) return parsed.step;
  throw new MigrateError("ERR_NOTATION", { flag: name, text, problem: parsed.problem, form });
}

/** Checks a value that a migration exports: the step, or a description of the problem. */
export function parseStep(
  value: unknown,
): { readonly step: Step } | { readonly problem: string; readonly kind?: string } {
  if (typeof value === "function") return { problem: "is a function; call it with its arguments" };
  const kind = (value as { kind?: unknown } | null | undefined)?.kind;
  if (typeof kind !== "string") return { problem: `is not a step; create one with ${stepNames.join(", ")}` };
  if (!Object.hasOwn(registry, kind)) {
    const similar = similarName(kind, stepNames);
    return {
      problem: `there is no step kind ${kind}${similar === undefined ? "" : `; did you mean ${similar}?`}`,
      kind,
    };
  }
  const unsafe = unserialisable(value, "", []);
  if (unsafe !== undefined) return { problem: unsafe, kind };
  const parsed = schemaOf(kind).safeParse(value, { error: unknownKeys });
  if (!parsed.success) return { problem: firstProblem(parsed.error, value), kind };
  const problem = kindOf(kind).check(parsed.data);
  return problem === undefined ? { step: parsed.data } : { problem, kind };
}

const known = new Map<string, z.ZodType<Step>>();

/** The schema of steps of a kind, made when the first one is checked. */
function schemaOf(kind: string): z.ZodType<Step> {
  const schema = known.get(kind) ?? makeSchema(kind);
  known.set(kind, schema);
  return schema;
}

function makeSchema(kind: string): z.ZodType<Step> {
  const { fields } = kindOf(kind);
  const shape = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field(schemas)]));
  return schemas.z.strictObject({ kind: schemas.z.literal(kind), ...shape }) as unknown as z.ZodType<Step>;
}

/** The message about unknown keys, where a schema has none of its own. */
const unknownKeys: z.core.$ZodErrorMap = (issue) =>
  issue.code === "unrecognized_keys" ? `holds an unknown key ${issue["keys"].join(", ")}` : undefined;

function kindOf(kind: string): AnyKind {
  // Each kind accepts only its own steps, which TypeScript can't infer through the lookup.
  return kinds[kind as StepName] as unknown as AnyKind;
}

function firstProblem(error: z.ZodError, step: unknown): string {
  const issue = error.issues[0];
  if (issue === undefined) return "is not valid";
  let place = "";
  let at: unknown = step;
  for (const key of issue.path) {
    at = (at as Record<PropertyKey, unknown> | undefined)?.[key];
    // The message gives the names of columns instead of their positions.
    const named = at as { name?: unknown; path?: unknown } | null | undefined;
    const name = named?.path ?? named?.name;
    place += typeof key === "number" ? (typeof name === "string" ? `.${name}` : `[${key}]`) : `.${String(key)}`;
  }
  return `${place.replace(/^\./, "")} ${issue.message}`.trim();
}

/** The first part of a value that JSON would drop or change, so that the checksum would miss it; undefined if none. */
function unserialisable(value: unknown, place: string, outer: readonly unknown[]): string | undefined {
  const refused = (what: string, instead = "a step must be plain data") => `${place} is ${what}; ${instead}`;
  if (typeof value === "object" && value !== null && outer.includes(value))
    return `${place} contains itself; a step must be plain data`;
  if (value === null || ["string", "boolean", "undefined"].includes(typeof value)) return undefined;
  if (typeof value === "number")
    return Number.isFinite(value)
      ? undefined
      : refused(
          String(value),
          "a migration holds finite numbers only: use null, or write the value from your application",
        );
  if (typeof value === "bigint") return refused("a bigint", `write it as text: "${value}"`);
  if (typeof value !== "object") return refused(`a ${typeof value}`);
  if (types.isDate(value)) return refused("a Date", "write it as text, such as 2026-11-20T12:00:00Z");
  if (types.isMap(value) || types.isSet(value)) return refused(`a ${value.constructor.name}`);
  if (ArrayBuffer.isView(value))
    return refused(`a ${value.constructor.name}`, "write it as a plain array: [...values]");
  for (const [key, inner] of Object.entries(value)) {
    const at = Array.isArray(value) ? `${place}[${key}]` : place === "" ? key : `${place}.${key}`;
    const problem = unserialisable(inner, at, [...outer, value]);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
