/** A table's schema as `describe` returns it: types in Lance's names, and the metadata of the Arrow schema. */
import { tableFromIpc } from "../arrow/arrow-schema.ts";
import { toField, type LanceField } from "./lance-type.ts";

export interface DescribedSchema {
  readonly fields: readonly LanceField[];
  readonly metadata: Readonly<Record<string, string>>;
}

/** The schema of an Arrow IPC file or stream. */
export function describeSchema(bytes: Buffer): DescribedSchema {
  const { columns, metadata } = tableFromIpc(bytes);
  return { fields: columns.map(toField), metadata };
}
