/** What has to compile: the ways in which migrations and configurations are written. */
import {
  after,
  alterColumns,
  createTable,
  decimal128,
  defineConfig,
  dictionary,
  fixedSizeList,
  float16,
  int8,
  int32,
  int64,
  isMigrateError,
  largeList,
  list,
  renameColumn,
  retypeColumn,
  setNullable,
  struct,
  timestamp,
  utf8,
  vector,
  type ColumnType,
  type NullableType,
  type Step,
} from "lance-migrate";

export const columns: Readonly<Record<string, ColumnType>> = {
  id: int64().notNull(),
  title: utf8(),
  source: struct({ url: utf8().notNull(), fetched: timestamp("us", "UTC") }).notNull(),
  tags: list(utf8().notNull()),
  parts: largeList(struct({ text: utf8() })),
  price: decimal128(10, 2),
  language: dictionary(int8(), utf8()),
  embedding: vector(768),
  small: vector(768, float16()).notNull(),
  grid: fixedSizeList(vector(3), 3),
};

export const up = [
  createTable("documents", columns),
  createTable("authors", { id: int32().notNull() }),
  renameColumn("documents", "source.fetched", "fetched_at"),
  retypeColumn("authors", "id", int64()),
  setNullable("documents", "title", false),
  alterColumns("documents", [
    { path: "a", rename: "b" },
    { path: "b", type: int64() },
    { path: "c", nullable: true },
    { path: "d", rename: "e", type: int64(), nullable: true },
  ]),
];

// As a migration may state its own type, whether or not it holds a step.
export const stated: readonly Step[] = up;
export const none: readonly Step[] = [];

// Where no history was generated, any version and any steps.
export const later: readonly Step[] = after("0007", renameColumn("documents", "a", "b"), ...up);

/** Types are values: a function may make them. */
export function widened(types: readonly NullableType[]): readonly Step[] {
  return types.map((type, index) => retypeColumn("documents", `column_${index}`, type));
}

/** A step's kind tells what it holds. */
export function newName(step: Step): string | undefined {
  return step.kind === "renameColumn" ? step.name : undefined;
}

/** A code tells what an error's details hold. */
export function missingTable(error: unknown): string | undefined {
  return isMigrateError(error, "ERR_TABLE_MISSING") ? error.details.table : undefined;
}

export default defineConfig({
  target: "local",
  targets: { local: { kind: "lance", uri: ".lancedb" } },
  lint: { rules: { "full-rewrite": "off", "lossy-cast": "error" } },
});
