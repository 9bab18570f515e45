/** Hashes of values in marks. They show whether a value is the one that was computed, or that of an application. */
import { crc32 } from "node:zlib";
import { codeMark, printMark, valueMark } from "../../../actions/rewrite/source-marks.ts";
import { isInteger, type DataType } from "../../../schema/data-type.ts";
import { float16Bits } from "../../../schema/float16.ts";
import type { RowValue } from "../../../schema/row-values.ts";

/** The part of a mark for a value that was computed: "" if equal values of this type may look different. */
export function valuePart(value: RowValue, type: DataType): string {
  const bytes = value === null ? undefined : bytesOf(value, type);
  // Short and quick: if another value has the same hash, its row is only computed once more.
  return bytes === undefined ? "" : `${valueMark}${crc32(bytes).toString(16)}`;
}

/** What is hashed: the same before a value is stored and after it is read again. */
function bytesOf(value: NonNullable<RowValue>, type: DataType): NodeJS.ArrayBufferView | string | undefined {
  if (isInteger(type) || type.kind === "utf8") return String(value);
  if (type.kind !== "fixedSizeList") return undefined;
  const item = type.item.type;
  if (isInteger(item)) return String(value);
  if (item.kind === "float16") return Uint16Array.from(value as readonly number[], float16Bits);
  if (item.kind === "float32") return asTyped(value, Float32Array);
  return item.kind === "float64" ? asTyped(value, Float64Array) : undefined;
}

function asTyped<Typed>(value: unknown, kind: new (items: readonly number[]) => Typed): Typed {
  return value instanceof kind ? value : new kind(value as readonly number[]);
}

/** Whether a value is the one of this mark, as far as that is known. `print`: what SQL hashes of it (`printSql`). */
export function isValueOf(mark: string, value: RowValue, type: DataType, print?: RowValue): boolean {
  const at = mark.indexOf(valueMark);
  if (at === -1) return true;
  const part = mark.slice(at).split(codeMark)[0]!;
  return part.startsWith(valueMark + printMark)
    ? part === `${valueMark}${printMark}${String(print)}`
    : part === valuePart(value, type);
}
