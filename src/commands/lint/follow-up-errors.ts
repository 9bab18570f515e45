/** What nobody knows of the tables because of what could not be read or can't work: problems that only follow are not told. Pure. */
import type { MigrateError } from "../../errors/migrate-error.ts";
import type { Action } from "../../actions/model/action.ts";
import { parsePath } from "../../schema/path.ts";
import { namesIn } from "../../schema/sql.ts";

/** What would have been done to all that it names. */
export interface Doubt {
  /** A file, or the words of a step; undefined where it could not be read, so that it may have named anything. */
  readonly text: string | undefined;
  /** The name that it lacked itself, so that it would not have made it. */
  readonly except?: string | undefined;
}

/** The keys in steps that are not names of somebody's columns. */
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

/** Whether a step that can't work might have, but for what is in doubt. `problem`: why it can't, as the model says. */
export function isExcused(problem: MigrateError, actions: readonly Action[], doubts: readonly Doubt[]): boolean {
  if (doubts.length === 0) return false;
  const { code, details } = problem;
  switch (code) {
    // These are wrong whatever the tables are like.
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

/** The table or the column that a step names and that is not there. */
export function missingIn({ code, details }: MigrateError): string | undefined {
  if (code === "ERR_TABLE_MISSING") return (details as { readonly table: string }).table;
  if (code !== "ERR_COLUMN_MISSING") return undefined;
  return parsePath((details as { readonly path: string }).path).at(-1);
}

function names({ text, except }: Doubt, name: string): boolean {
  if (text === undefined) return true;
  if (name === except) return false;
  const word = JSON.stringify(name)
    .slice(1, -1)
    .replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  return new RegExp(`(?<![\\p{L}\\p{N}_])${word}(?![\\p{L}\\p{N}_])`, "u").test(text);
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
