/**
 * Imported by the configuration of a project: something else happens right before or after the first call of the engine on
 * a table, in the process of the command.
 */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Table } from "@lancedb/lancedb";

const require = createRequire(import.meta.url);
const engine = require.resolve("@lancedb/lancedb");
const { connect } = require(engine) as typeof import("@lancedb/lancedb");

type Happening = (table: Table, db: Awaited<ReturnType<typeof connect>>) => unknown;

/** `method`: one of the engine's native table, which the package does not export. */
export function besideCall(
  method: string,
  table: string,
  { before, after }: { readonly before?: Happening; readonly after?: Happening },
): void {
  const native = require(join(dirname(engine), "native.js")) as { readonly Table: { readonly prototype: Methods } };
  const { prototype } = native.Table;
  const call = prototype[method]!;
  let isFirst = true;
  const happens = async (what: Happening | undefined) => {
    if (what === undefined) return;
    const db = await connect(".lancedb");
    await what(await db.openTable(table), db);
  };
  prototype[method] = async function (this: { readonly name: string }, ...given: unknown[]) {
    if (this.name !== table || !isFirst) return await call.apply(this, given);
    isFirst = false;
    await happens(before);
    const result = await call.apply(this, given);
    await happens(after);
    return result;
  };
}

type Methods = Record<string, (...given: unknown[]) => Promise<unknown>>;
