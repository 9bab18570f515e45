/** Hashes of values in marks. They show whether a value is the one that was computed, or that of an application. */
import { crc32 } from "node:zlib";
import { codeMark, valueMark } from "../../actions/rewrite/source-marks.ts";
import { isInteger, type DataType } from "../../schema/data-type.ts";
import type { RowValue } from "../../schema/row-values.ts";

/** The part of a mark for a value that was computed: "" if equal values of this type may look different. */
export function valuePart(value: RowValue, type: DataType): string {
  if (value === null) return "";
  const item = type.kind === "fixedSizeList" ? type.item.type.kind : undefined;
  if (item === "float32") return hashOf(asTyped(value, Float32Array));
  if (item === "float64") return hashOf(asTyped(value, Float64Array));
  return isInteger(type) || type.kind === "utf8" ? hashOf(String(value)) : "";
}

/** Short and quick: if another value has the same hash, its row is only computed once more. */
function hashOf(value: string | NodeJS.ArrayBufferView): string {
  return `${valueMark}${crc32(value).toString(16)}`;
}

function asTyped<Typed>(value: unknown, kind: new (items: readonly number[]) => Typed): Typed {
  return value instanceof kind ? value : new kind(value as readonly number[]);
}

/** Whether a value is the one that was computed with this mark, as far as that is known. */
export function isValueOf(mark: string, value: RowValue, type: DataType): boolean {
  const at = mark.indexOf(valueMark);
  return at === -1 || mark.slice(at).split(codeMark)[0] === valuePart(value, type);
}
