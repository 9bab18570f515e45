import { expect, test } from "vitest";
import * as api from "lance-migrate";

const names = `
  addColumn addComputedColumn alterColumns backfillColumn createIndex createTable dropColumn dropIndex dropTable execute insertRows
  optimizeTable populateTable rebuildIndex reembedColumn refreshColumn renameColumn renameTable retypeColumn setMetadata setNullable
  bitmap btree fm fts hnswPq hnswSq ivfFlat ivfPq ivfRq labelList
  binary blob bool date32 date64 decimal128 dictionary duration fixedSizeBinary fixedSizeList float16 float32 float64
  int8 int16 int32 int64 json largeBinary largeList largeUtf8 list nullType struct time32 time64 timestamp
  uint8 uint16 uint32 uint64 utf8 vector
  MigrateError after createMigrator defineConfig defineSchema isMigrateError openMigrator table`;

test("the public API is these names", () => {
  expect(Object.keys(api).toSorted()).toEqual(names.trim().split(/\s+/).toSorted());
});
