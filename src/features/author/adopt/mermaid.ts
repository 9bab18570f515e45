/** Tables as an entity relationship diagram of Mermaid. Pure. */
import { formatType } from "../../../schema/data-type.ts";
import type { Database } from "../../../schema/table.ts";

/** One entity for each table. Mermaid takes few characters in names and types, so a comment has what it can't take. */
export function mermaidLines(tables: Database): readonly string[] {
  return [
    "erDiagram",
    ...[...tables].flatMap(([name, { columns }]) => [
      `  "${inQuotes(name)}" {`,
      ...columns.map((column) => {
        const type = formatType(column.type);
        const notes = [
          ...(plain(column.name) === column.name ? [] : [column.name]),
          ...(plain(type) === type ? [] : [type]),
          ...(column.nullable ? [] : ["not null"]),
        ];
        const comment = notes.length === 0 ? "" : ` "${inQuotes(notes.join(", "))}"`;
        return `    ${plain(column.type.kind)} ${plain(column.name)}${comment}`;
      }),
      "  }",
    ]),
  ];
}

function plain(name: string): string {
  return name.replace(/[^A-Za-z0-9_]/g, "_").replace(/^(?![A-Za-z_])/, "_");
}

/** It knows no escape for a quote. */
function inQuotes(text: string): string {
  return text.replaceAll('"', "'");
}
