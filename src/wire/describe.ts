/** A table's schema as `describe` answers it: types in Lance's names, and the metadata that Arrow carries along. */
import type { Field } from "apache-arrow/fb/field";
import type { KeyValue } from "apache-arrow/fb/key-value";
import { fromIpc, readSchema } from "./arrow-schema.ts";
import { toLanceType, type LanceType } from "./lance-type.ts";

export interface DescribedSchema {
  readonly fields: readonly {
    readonly name: string;
    readonly type: LanceType;
    readonly nullable: boolean;
    readonly metadata?: Readonly<Record<string, string>>;
  }[];
  readonly metadata: Readonly<Record<string, string>>;
}

/** The schema of an Arrow IPC file or stream. Metadata of fields inside other fields is left out. */
export function describeSchema(bytes: Buffer): DescribedSchema {
  const schema = readSchema(bytes);
  return {
    fields: fromIpc(bytes).map(({ name, type, nullable }, index) => {
      const metadata = metadataOf(schema.fields(index)!);
      const field = { name, type: toLanceType(type), nullable };
      return Object.keys(metadata).length === 0 ? field : { ...field, metadata };
    }),
    metadata: metadataOf(schema),
  };
}

interface Annotated {
  customMetadataLength(): number;
  customMetadata(index: number): KeyValue | null;
}

function metadataOf(annotated: Annotated | Field): Readonly<Record<string, string>> {
  const entries = Array.from({ length: annotated.customMetadataLength() }, (_, index) => {
    const entry = annotated.customMetadata(index);
    return [entry?.key() ?? "", entry?.value() ?? ""];
  });
  // Not an assignment: a key may be "__proto__".
  return Object.fromEntries(entries);
}
