/** Values that rows of migrations hold, the edges of their types among them. */
import * as fc from "../support/fast-check.ts";
import { isFloat, isInteger, type DataType } from "../../src/schema/data-type.ts";
import type { RowValue } from "../../src/schema/row-values.ts";

/** Whether a migration can hold values of that type; said once more, to find a model that says otherwise. */
export function canHold(type: DataType): boolean {
  // The engine takes values of vectors of structs and panics when it reads them.
  if (type.kind === "fixedSizeList" && type.item.type.kind === "struct") return false;
  if (type.kind === "list" || type.kind === "fixedSizeList") return canHold(type.item.type);
  if (type.kind === "struct") return type.fields.every((field) => canHold(field.type));
  return isFloat(type) || isInteger(type) || /^(bool|utf8|largeUtf8|date32|timestamp)$/.test(type.kind);
}

const times = ["1970-01-01T00:00:00Z", "2026-11-20T12:34:56.789Z", "1969-12-31T23:59:59.999Z"];

export function valueOf(type: DataType): fc.Arbitrary<RowValue> {
  switch (type.kind) {
    case "bool":
      return fc.boolean();
    case "utf8":
    case "largeUtf8":
      return fc.constantFrom("", "a", "größer", "7", "it's");
    case "float16":
      return fc.constantFrom(0, -1.5, 65_504, -65_504);
    case "float32":
      return fc.constantFrom(0, 1.5, -(2 ** 127), 2 ** -149);
    case "float64":
      return fc.constantFrom(0, 0.1, 1e300, -5e-324);
    case "date32":
      return fc.constantFrom("1970-01-01", "2026-11-20", "1899-12-31", "9999-12-31");
    case "timestamp":
      return fc.constantFrom(...times.map((time) => (type.unit === "s" ? time.replace(/\.\d+/, "") : time)));
    case "list":
      return fc.array(fc.option(valueOf(type.item.type)), { maxLength: 3 });
    case "fixedSizeList":
      return fc.array(valueOf(type.item.type), { minLength: type.length, maxLength: type.length });
    case "struct":
      return fc.record(
        Object.fromEntries(
          type.fields.map(({ name, type: own, nullable }) => [name, nullable ? fc.option(valueOf(own)) : valueOf(own)]),
        ),
      ) as fc.Arbitrary<RowValue>;
    default: {
      const bits = Number(type.kind.replace(/\D+/, ""));
      const [min, max] = type.kind.startsWith("u")
        ? [0n, 2n ** BigInt(bits) - 1n]
        : [-(2n ** BigInt(bits - 1)), 2n ** BigInt(bits - 1) - 1n];
      const edges = [0n, 1n, min, max].map((edge) => (bits === 64 ? `${edge}` : Number(edge)));
      return fc.constantFrom<RowValue>(...edges);
    }
  }
}
