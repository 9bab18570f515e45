/**
 * Drops columns and checks what is left. The engine also drops the last column that some rows have in their files,
 * after which no scan of the table works. In older file formats it drops a whole list together with a field of its
 * items.
 */
import { tableAfter } from "../actions/apply-action.ts";
import { sameColumns, type Column } from "../schema/data-type.ts";
import { withoutMetadata } from "../schema/metadata.ts";
import { sqlPath } from "../schema/sql.ts";
import { isComputed } from "../wire/arrow/computed-column.ts";
import { readColumns, type EngineTable } from "./engine.ts";

/**
 * The drop was undone, because the table could not have been used after it. `reason` is the cause alone, without what
 * was done about it.
 */
export class DropRefused extends Error {
  readonly reason: string;

  constructor(reason: string, remedy: string) {
    super(`${reason} (${remedy})`);
    this.reason = reason;
  }
}

/**
 * Gives the new version. Throws DropRefused if the version before was restored, and a plain Error if others have
 * committed since the drop, so that nothing was restored.
 */
export async function dropColumns(table: EngineTable, paths: readonly string[]): Promise<number> {
  const [before, columns] = [await table.version(), await readColumns(table)];
  const { version } = await table.dropColumns([...paths]);
  const problem = await problemAfterDrop(table, paths, columns, version === before + 1);
  if (problem === undefined) return version;
  await table.checkoutLatest();
  const newest = await table.version();
  // This run may have been suspended meanwhile: a restore would discard what others have written or restored since.
  if (newest !== version) throw new Error(`${problem} (${leftBy(version, newest)})`);
  await table.checkout(version - 1);
  await table.restore();
  const last = (await table.version()) - 1;
  const since = last === version ? "" : `; version ${last} has what others wrote meanwhile, and is not readable`;
  throw new DropRefused(problem, `version ${version - 1} was restored${since}`);
}

function leftBy(dropped: number, newest: number): string {
  return `others have committed since, up to version ${newest}, so nothing was restored: if the table can't be read, restore version ${dropped - 1} and write again what came later`;
}

async function problemAfterDrop(
  table: EngineTable,
  paths: readonly string[],
  before: readonly Column[],
  isAlone: boolean,
): Promise<string | undefined> {
  const drop = { kind: "dropColumns", table: "t", paths } as const;
  const { columns: left } = tableAfter(new Map([["t", { columns: before }]]), drop);
  const plain = (columns: readonly Column[]) => columns.map(withoutMetadata);
  // If others have committed meanwhile, a difference may be their change.
  if (isAlone && !sameColumns(plain(left), plain(await readColumns(table))))
    return "in the file format of this table the engine would drop more than that; recreate the column with retypeColumn's using";
  try {
    await table.countRows();
    return undefined;
  } catch {
    return `some rows have values of no other column, and without them the engine could not read the table any more; ${wayOut(left)}`;
  }
}

/** How to give these rows a value in another column, which may be null. */
function wayOut(left: readonly Column[]): string {
  const other = left.find((column) => !isComputed(column));
  if (other === undefined)
    return `compute the values of another column first: refreshColumn for ${JSON.stringify(left[0]!.name)}`;
  const name = sqlPath([other.name]);
  const [key, where] = [name, `${name} is null`].map((text) => JSON.stringify(text));
  return `write another column first: execute with { update: { ${key}: "null" }, where: ${where} }`;
}
