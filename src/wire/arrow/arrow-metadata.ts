/** The metadata of Arrow schemas and fields. */
import type { KeyValue } from "apache-arrow/fb/key-value";

interface Annotated {
  customMetadataLength(): number;
  customMetadata(index: number): KeyValue | null;
}

export function metadataOf(annotated: Annotated): Readonly<Record<string, string>> {
  const entries = Array.from({ length: annotated.customMetadataLength() }, (_, index) => {
    const entry = annotated.customMetadata(index);
    return [entry?.key() ?? "", entry?.value() ?? ""];
  });
  // Not by assignment: a key may be "__proto__".
  return Object.fromEntries(entries);
}
