/** Of a retype whose way back is a cast, the engine's cast brings back values that nobody has touched. */
import { expect, test } from "vitest";
import { alterColumns, connect } from "../../src/engine/engine.ts";
import { invert } from "../../src/actions/apply-action.ts";
import * as types from "../../src/schema/declare/type-builders.ts";
import { columnsOf } from "../../src/schema/declare/type-builders.ts";
import type { NullableType } from "../../src/schema/typed/shape.ts";
import { castVerdict } from "../../src/schema/cast-rules.ts";
import { formatType } from "../../src/schema/data-type.ts";
import { open } from "../../src/targets/lance/lance.ts";
import { columnSql } from "../../src/wire/arrow/arrow-cast.ts";
import { temporaryFolder } from "../support/project.ts";

const noon = "timestamp '2026-11-20T12:00:00'";
const zones = [undefined, "UTC", "America/New_York", "Asia/Kolkata"] as const;
const samples: readonly (readonly [NullableType, string])[] = [
  ...(["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"] as const).map(
    (kind) => [types[kind](), "7"] as const,
  ),
  ...(["float16", "float32", "float64"] as const).map((kind) => [types[kind](), "7.25"] as const),
  [types.decimal128(10, 2), "7.25"],
  [types.decimal128(20, 4), "7.25"],
  [types.utf8(), "'x'"],
  [types.largeUtf8(), "'x'"],
  [types.binary(), "X'37'"],
  [types.largeBinary(), "X'37'"],
  [types.date32(), "date '2026-11-20'"],
  [types.date64(), "date '2026-11-20'"],
  ...(["s", "ms", "us", "ns"] as const).flatMap((unit) =>
    zones.map((zone) => [types.timestamp(unit, zone), noon] as const),
  ),
  [types.dictionary(types.int16(), types.utf8()), "'x'"],
];

test.each(samples.map(([from, value]) => [formatType(from.type), from, value] as const))(
  "%s to every type from which a cast leads back",
  async (_, { type: from }, value) => {
    const folder = temporaryFolder();
    const target = await open({ kind: "lance", uri: folder }, { name: "test", folder });
    await target.execute(
      { kind: "createTable", table: "t", columns: columnsOf({ id: types.int32() }), rows: [{ id: 1 }] },
      undefined,
    );
    const db = await connect({ uri: folder });
    const table = await db.openTable("t");
    await table.addColumns(
      ["was", "c"].map((name) => ({ name, valueSql: columnSql({ name, type: from, nullable: true, as: value }) })),
    );
    const before = new Map([["t", { columns: [{ name: "c", type: from, nullable: true }] }]]);
    const wrong: string[] = [];
    for (const [{ type: to }] of samples) {
      if (!castVerdict(from, to).allowed || formatType(from) === formatType(to)) continue;
      const action = { kind: "alterColumns", table: "t", alterations: [{ path: "c", type: to }] } as const;
      if ("lost" in invert(action, before)) continue;
      await alterColumns(table, action.alterations);
      await alterColumns(table, [{ path: "c", type: from }]);
      if ((await table.countRows("c = was")) !== 1) wrong.push(formatType(to));
    }
    db.close();
    await target.close();
    expect(wrong).toEqual([]);
  },
);
