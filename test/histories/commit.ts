/** A write, as the official client makes it. */
import { lancedb } from "../support/tables.ts";
import { tableOf } from "./arrow.ts";
import { sqlOf, type Raw } from "./values.ts";
import { notNow, type Write } from "./write.ts";

export type Connection = Awaited<ReturnType<typeof lancedb.connect>>;
export type Table = Awaited<ReturnType<Connection["openTable"]>>;

/** To the database as the application reaches it, and to its folder. */
export interface Connections {
  readonly db: Connection;
  readonly local: Connection;
}

/** Gives the version that it made, where the client tells. */
export async function commit(
  { kind, rows, table: name, metadata, columns }: Pick<Write, "kind" | "rows" | "table" | "metadata" | "columns">,
  { db, local }: Connections,
  table: Table,
  key: string,
): Promise<number | undefined> {
  const keys = rows.map((row) => row.key);
  const where = `\`${key}\` in (${keys.join(", ")})`;
  const schema = await table.schema();
  const isBig = columns.find((one) => one.name === key)!.type.kind.endsWith("64");
  const ofKey = (one: string): Raw => (isBig ? BigInt(one) : Number(one));
  const given = [key, ...Object.keys(rows[0]?.values ?? {})];
  const data = () =>
    tableOf(
      schema,
      given,
      rows.map((row) => ({ ...row.values, [key]: ofKey(row.key) })),
    );
  switch (kind) {
    case "append":
      return (await table.add(data())).version;
    case "update": {
      const [[column, value]] = Object.entries(rows[0]!.values) as [[string, Raw]];
      const { type } = columns.find((one) => one.name === column)!;
      return (await table.update({ where, valuesSql: { [column]: sqlOf(value, type) } })).version;
    }
    case "upsert":
      return (await table.mergeInsert(key).whenMatchedUpdateAll().execute(data())).version;
    case "put":
      return (await table.mergeInsert(key).whenMatchedUpdateAll().whenNotMatchedInsertAll().execute(data())).version;
    case "delete":
      return (await table.delete(where)).version;
    case "metadata":
      return (
        await table.updateFieldMetadata([
          { path: quoted(metadata!.column), metadata: { [metadata!.key]: metadata!.value } },
        ])
      ).version;
    case "optimize":
      await (await local.openTable(name)).optimize();
      return undefined;
    case "recreate": {
      if (schema.fields.some((field) => field.name.startsWith("_lance_migrate"))) throw new Error(notNow);
      await db.dropTable(name);
      return (await (await db.createEmptyTable(name, schema)).add(data())).version;
    }
  }
}

function quoted(name: string): string {
  return /[.`]/.test(name) ? `\`${name.replaceAll("`", "``")}\`` : name;
}
