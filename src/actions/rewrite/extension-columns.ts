/** JSON and blob columns: what the engine's SQL can't do with them, or does wrongly without an error (docs/internals/engine.md). Pure. */
import { conflict } from "../model/conflict.ts";
import { formatType, type Column, type DataType } from "../../schema/data-type.ts";
import { extensionIn, extensionName, wayToFill } from "../../schema/reserved-metadata.ts";
import { formatPath, type Path } from "../../schema/path.ts";
import { columnsWithin } from "../../schema/table.ts";

/** Refuses to give the column the values of an expression. */
export function checkFilled(table: string, column: string, type: DataType): void {
  const kind = extensionIn(type);
  if (kind === undefined) return;
  throw conflict(
    table,
    `${column} can't get values of type ${formatType(type)} from SQL, because SQL can't create ${kind}; ${wayToFill(type)}`,
  );
}

/** Refuses an expression that reads such a column otherwise than through the engine's functions for JSON. */
export function checkRead(table: string, columns: readonly Column[], sql: string): void {
  for (const { path, column } of columnsWithin(columns)) {
    const { kind } = column.type;
    if (extensionName(column.type) === undefined || !isRead(sql, path, kind)) continue;
    const place = formatPath(path);
    const way =
      kind === "json"
        ? `SQL would give the binary form in which it is stored; use json_extract(${place}, '$') for its text, and json_get_string, json_get_int or others for its parts`
        : "SQL can't read the bytes of a blob; compute the values in your application";
    throw conflict(table, `${sql} reads ${place}, which is ${kind}: ${way}`);
  }
}

/** Whether SQL reads the column, or a column around it as a whole. */
function isRead(sql: string, path: Path, kind: DataType["kind"]): boolean {
  const bare = sql.replace(/'(?:[^']|'')*'/g, "''");
  const pattern = (names: Path) => names.map((name) => `(?:${escaped(name)}|\`${escaped(name)}\`)`).join("\\s*\\.\\s*");
  const own = pattern(path);
  const functions = new RegExp(
    `\\bjson_(?!get\\s*\\()\\w+\\s*\\(\\s*${own}\\s*,|${own}\\s+is\\s+(?:not\\s+)?null\\b`,
    "giu",
  );
  const rest = kind === "json" ? withoutGet(bare, own).replace(functions, "") : bare;
  return path.some((_, at) => {
    const end = at === path.length - 1 ? "(?![\\p{L}\\p{N}_$`])" : "(?![\\p{L}\\p{N}_$`]|\\s*\\.)";
    return new RegExp(`(?<![\\p{L}\\p{N}_$.\`])${pattern(path.slice(0, at + 1))}${end}`, "iu").test(rest);
  });
}

/** `json_get` gives a part of a column in the form in which it is stored, so it reads as the column itself does. */
function withoutGet(sql: string, own: string): string {
  const part = sql.replace(new RegExp(`\\bjson_get\\s*\\(\\s*(${own})\\s*,\\s*''\\s*\\)`, "giu"), "$1");
  return part === sql ? sql : withoutGet(part, own);
}

function escaped(name: string): string {
  return name.replaceAll("`", "``").replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
