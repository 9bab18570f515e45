import type { DataType } from "../../schema/data-type.ts";

/** One entry of an `alter_columns` call. At least one of the three changes is present. */
export interface Alteration {
  readonly path: string;
  readonly rename?: string | undefined;
  readonly type?: DataType | undefined;
  readonly nullable?: boolean | undefined;
}
