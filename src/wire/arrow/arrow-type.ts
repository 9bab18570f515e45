/** Converts types to classes of apache-arrow, for rows that are written with it. */
import * as arrow from "apache-arrow";
import type { Column, DataType, TimeUnit } from "../../schema/data-type.ts";
import { formatType } from "../../schema/data-type.ts";

const plainTypes: Readonly<Partial<Record<DataType["kind"], () => arrow.DataType>>> = {
  null: () => new arrow.Null(),
  bool: () => new arrow.Bool(),
  int8: () => new arrow.Int8(),
  int16: () => new arrow.Int16(),
  int32: () => new arrow.Int32(),
  int64: () => new arrow.Int64(),
  uint8: () => new arrow.Uint8(),
  uint16: () => new arrow.Uint16(),
  uint32: () => new arrow.Uint32(),
  uint64: () => new arrow.Uint64(),
  float16: () => new arrow.Float16(),
  float32: () => new arrow.Float32(),
  float64: () => new arrow.Float64(),
  utf8: () => new arrow.Utf8(),
  largeUtf8: () => new arrow.LargeUtf8(),
  binary: () => new arrow.Binary(),
  largeBinary: () => new arrow.LargeBinary(),
  date32: () => new arrow.DateDay(),
  date64: () => new arrow.DateMillisecond(),
};

const units: Readonly<Record<TimeUnit, arrow.TimeUnit>> = {
  s: arrow.TimeUnit.SECOND,
  ms: arrow.TimeUnit.MILLISECOND,
  us: arrow.TimeUnit.MICROSECOND,
  ns: arrow.TimeUnit.NANOSECOND,
};

export function toArrowField({ name, type, nullable }: Column): arrow.Field {
  return new arrow.Field(name, toArrow(type), nullable);
}

/** Throws if apache-arrow has no class for the type. */
export function toArrow(type: DataType): arrow.DataType {
  switch (type.kind) {
    case "fixedSizeBinary":
      return new arrow.FixedSizeBinary(type.length);
    case "decimal128":
      return new arrow.Decimal(type.scale, type.precision, 128);
    case "time32":
    case "time64":
      return new arrow.Time(units[type.unit], type.kind === "time32" ? 32 : 64);
    case "duration":
      return new arrow.Duration(units[type.unit]);
    case "timestamp":
      return new arrow.Timestamp(units[type.unit], type.zone);
    case "list":
      return new arrow.List(toArrowField(type.item));
    case "fixedSizeList":
      return new arrow.FixedSizeList(type.length, toArrowField(type.item));
    case "struct":
      return new arrow.Struct(type.fields.map(toArrowField));
    case "dictionary":
      return new arrow.Dictionary(toArrow(type.value), toArrow(type.index) as arrow.Int32);
    default: {
      const make = plainTypes[type.kind];
      if (make === undefined) throw new TypeError(`apache-arrow has no ${formatType(type)}`);
      return make();
    }
  }
}
