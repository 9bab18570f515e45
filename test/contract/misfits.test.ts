/** Values that are counted as not fitting a cast, against what the engine's own cast of the column does. */
import { expect, test } from "vitest";
import { connect } from "../../src/engine/engine.ts";
import { askAfter } from "../../src/plan/assess/row-questions.ts";
import * as types from "../../src/schema/declare/type-builders.ts";
import { columnsOf } from "../../src/schema/declare/type-builders.ts";
import type { NullableType } from "../../src/schema/typed/shape.ts";
import { castVerdict } from "../../src/schema/cast-rules.ts";
import { formatType } from "../../src/schema/data-type.ts";
import { open } from "../../src/targets/lance/lance.ts";
import { columnSql } from "../../src/wire/arrow/arrow-cast.ts";
import { temporaryFolder } from "../support/project.ts";

const day = "timestamp '2026-11-20T12:00:00'";
/** Types with values in SQL: usual ones, and as large as the type takes. */
const samples: readonly (readonly [NullableType, ...string[]])[] = [
  [types.int8(), "7", "-128"],
  [types.int64(), "7", "9223372036854775807"],
  [types.uint8(), "7", "255"],
  [types.uint32(), "7", "4294967295"],
  [types.float32(), "7.25", "3e38"],
  [types.float64(), "0.1", "1e300", "arrow_cast('NaN', 'Float64')"],
  [types.decimal128(10, 2), "7.25", "99999999.99"],
  [types.decimal128(5, 2), "7.25", "999.99"],
  [types.date32(), "date '2026-11-20'", "date '9999-12-31'"],
  [types.date64(), "date '2026-11-20'", "date '9999-12-31'"],
  [types.timestamp("s"), day, "timestamp '9999-12-31T00:00:00'", "timestamp '2026-03-08T02:30:00'"],
  [types.timestamp("ns"), day],
  [types.timestamp("ms"), day, "arrow_cast(9000000000000000, 'Timestamp(Millisecond, None)')"],
  [types.timestamp("ms", "America/New_York"), day, "timestamp '9999-12-31T00:00:00'"],
  [types.timestamp("us", "UTC"), day],
  [types.duration("s"), "7"],
  [types.utf8(), "'x'"],
  [types.vector(2), "[1.5, 2]"],
];

const others = [
  types.int16(),
  types.float16(),
  types.timestamp("us"),
  types.timestamp("ms", "Europe/Berlin"),
  types.duration("ns"),
];
const pairs = samples.flatMap(([from, ...values]) =>
  [...samples.map(([to]) => to), ...others, types.dictionary(types.int8(), types.float32()), types.largeUtf8()].flatMap(
    (to) => {
      const verdict = castVerdict(from.type, to.type);
      return verdict.allowed && formatType(from.type) !== formatType(to.type)
        ? values.map((value) => [formatType(from.type), formatType(to.type), value, from, to] as const)
        : [];
    },
  ),
);

test.each(pairs)("%s to %s: %s is counted just where the engine refuses it", async (_, __, value, from, to) => {
  const folder = temporaryFolder();
  const target = await open({ kind: "lance", uri: folder }, { name: "test", folder });
  const columns = columnsOf({ id: types.int32() });
  await target.execute({ kind: "createTable", table: "t", columns, rows: [{ id: 1 }] }, undefined);
  const db = await connect({ uri: folder });
  const table = await db.openTable("t");
  const column = { name: "c", type: from.type, nullable: true };
  // A constant too large for its type can't be made by a cast of its text.
  const made = await table.addColumns([{ name: "c", valueSql: columnSql({ ...column, as: value }) }]).then(
    () => true,
    () => false,
  );
  if (!made) return;
  const now = new Map([["t", { columns: [...columns, column] }]]);
  const ask = askAfter({ kind: "misfit", table: "t", path: "c", to: to.type }, [], now);
  const counted = ask === undefined ? undefined : await target.countRows!("t", ask.predicate);
  const refused = await target
    .execute(
      { kind: "alterColumns", table: "t", alterations: [{ path: "c", type: to.type }] },
      await target.describeTable("t"),
    )
    .then(
      () => 0,
      () => 1,
    );
  db.close();
  await target.close();
  if (counted !== undefined) expect(counted).toBe(refused);
});
