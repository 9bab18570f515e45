/** Metadata of columns that is the applications'. */
import type { Column } from "../../../src/schema/data-type.ts";

export const mark = "application";

export function markOf({ metadata }: Column): string | undefined {
  return metadata?.[mark] ?? undefined;
}

export function withoutMark(column: Column): Column {
  if (markOf(column) === undefined) return column;
  const { metadata, ...rest } = column;
  const { [mark]: _, ...others } = metadata!;
  return Object.keys(others).length === 0 ? rest : { ...rest, metadata: others };
}
