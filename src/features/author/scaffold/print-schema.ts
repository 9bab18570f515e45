/** The text of a `schema.ts` that declares tables. Pure. */
import { call, fieldsSource, indexSource, valueSource, type Source } from "../../../schema/text/typescript-source.ts";
import type { Database, Table } from "../../../schema/table.ts";
import { isRecreatable } from "../../../schema/table-index.ts";
import { indexName } from "../../../steps/kinds/tables/create-index.ts";
import { importLine, layOut, namesIn } from "../../shared/print-source.ts";

const packageName = "lance-migrate";
const start = "export default ";
/** Above the declaration. */
export const schemaComment = "/** The tables that are wanted: migrate generate writes what leads there. */\n";

/** Indexes are declared only for tables that have some: `generate` does not compare undeclared ones. */
export function schemaText(tables: Database): string {
  const source = call("defineSchema", {
    kind: "object",
    entries: [...tables].map(([name, table]) => [name, tableSource(table)]),
  });
  const declaration = layOut(source, { indent: 0, used: start.length, tail: 1, prefix: "" });
  return `${importLine([...new Set(namesIn(source))].toSorted(), packageName)}\n\n${schemaComment}${start}${declaration};\n`;
}

function tableSource({ columns, indexes = {}, metadata = {} }: Table): Source {
  const declared = Object.entries(indexes).flatMap(([name, index]): readonly Source[] => {
    if (index === null || !isRecreatable(index)) return [];
    const entries: readonly (readonly [string, Source])[] = [
      ["on", valueSource(index.path)],
      ["type", indexSource(index)],
      ...(name === indexName(index.path) ? [] : [["name", valueSource(name)] as const]),
    ];
    return [{ kind: "object", entries }];
  });
  const fields = fieldsSource(columns);
  const options: readonly (readonly [string, Source])[] = [
    ...(declared.length === 0 ? [] : [["indexes", { kind: "array", items: declared }] as const]),
    ...(Object.keys(metadata).length === 0 ? [] : [["metadata", valueSource(metadata)] as const]),
  ];
  // For a table named like a member of every object, such as constructor, TypeScript accepts a list only from a call.
  if (options.length === 0) return fields.kind === "array" ? call("table", fields) : fields;
  return call("table", fields, { kind: "object", entries: options });
}
