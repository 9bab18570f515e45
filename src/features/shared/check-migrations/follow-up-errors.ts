/**
 * Recognises problems that only follow from others: after a file or step that could not be read or can't work, the
 * tables are not fully known. Pure.
 */
import type { MigrateError } from "../../../errors/migrate-error.ts";
import type { Action } from "../../../actions/model/action.ts";
import { parsePath } from "../../../schema/path.ts";
import { namesIn } from "../../../schema/sql.ts";
import { hasWord } from "../whole-word.ts";

/** A file or step that is not applied to the model. It might have changed anything that it names. */
export interface Doubt {
  /** The text of the file, or the words of the step; undefined if unknown, so that it may name anything. */
  readonly text: string | undefined;
  /** The missing name that made the step fail, which the step therefore would not have created. */
  readonly except?: string | undefined;
}

/** The keys of steps that are not names of columns. */
const ownKeys = new Set(
  (
    "kind table path name type nullable columns alterations rename rows change update where delete as using key metadata " +
    "item fields length unit zone precision scale index value options"
  ).split(" "),
);

/** The words of a step, or of what should have been one. */
export function wordsInStep(value: unknown): string {
  const words = new Set<string>();
  const seen = new Set<object>();
  const walk = (one: unknown): void => {
    if (typeof one === "string") words.add(one);
    if (typeof one !== "object" || one === null || seen.has(one)) return;
    seen.add(one);
    for (const [key, inner] of Object.entries(one)) {
      if (!ownKeys.has(key)) words.add(key);
      if (key !== "kind") walk(inner);
    }
  };
  walk(value);
  return JSON.stringify([...words]);
}

/** Whether a step might work if the steps in doubt had run. `problem`: why it can't work, by the model. */
export function isExcused(problem: MigrateError, actions: readonly Action[], doubts: readonly Doubt[]): boolean {
  if (doubts.length === 0) return false;
  const { code, details } = problem;
  switch (code) {
    // These problems do not depend on the tables.
    case "ERR_TABLE_NAME":
    case "ERR_COLUMN_NAME":
    case "ERR_PATH_INVALID":
    case "ERR_UNSUPPORTED":
    case "ERR_STEP_IMPOSSIBLE":
      return false;
    case "ERR_TABLE_MISSING":
    case "ERR_TABLE_EXISTS":
      return doubts.some((doubt) => names(doubt, (details as { readonly table: string }).table));
    default: {
      const missing = missingIn(problem);
      const columns = missing === undefined ? actions.flatMap(namesOf) : [missing];
      return actions.some(({ table }) =>
        doubts.some((doubt) => names(doubt, table) && columns.some((column) => names(doubt, column))),
      );
    }
  }
}

/** The missing table or column that a step names. */
export function missingIn({ code, details }: MigrateError): string | undefined {
  if (code === "ERR_TABLE_MISSING") return (details as { readonly table: string }).table;
  if (code !== "ERR_COLUMN_MISSING") return undefined;
  return parsePath((details as { readonly path: string }).path).at(-1);
}

function names({ text, except }: Doubt, name: string): boolean {
  if (text === undefined) return true;
  if (name === except) return false;
  return hasWord(text, JSON.stringify(name).slice(1, -1));
}

/** The columns, indexes and new tables that an action is about. */
function namesOf(action: Action): readonly string[] {
  switch (action.kind) {
    case "createTable":
    case "addColumns":
      return action.columns.map(({ name }) => name);
    case "alterColumns":
      return action.alterations.flatMap(({ path, rename = [] }) => [...partsOf(path), rename].flat());
    case "dropColumns":
      return action.paths.flatMap(partsOf);
    case "addField":
      return partsOf(action.path);
    case "convertColumn":
      return [...partsOf(action.path), ...namesIn(action.using)];
    case "createIndex":
      return [action.name, ...partsOf(action.index.path)];
    case "setMetadata":
      return action.updates.flatMap(({ path }) => partsOf(path));
    case "insertRows":
      return [action.key, ...action.rows.flatMap(Object.keys)];
    case "updateRows":
      return Object.keys(action.set).flatMap(partsOf);
    case "dropIndex":
    case "rebuildIndex":
    case "renameTable":
      return [action.name];
    default:
      return [];
  }
}

function partsOf(path: string): readonly string[] {
  try {
    return parsePath(path);
  } catch {
    return [path];
  }
}
