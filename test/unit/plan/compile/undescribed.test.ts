import * as fc from "../../../support/fast-check.ts";
import { expect, test } from "vitest";
import { isMigrateError } from "../../../../src/errors/migrate-error.ts";
import { oneByOne, proofOf, swapsNames } from "../../../../src/plan/compile/undescribed.ts";
import type { Action, ActionFor } from "../../../../src/actions/model/action.ts";
import { tableAfter } from "../../../../src/actions/apply-action.ts";
import type { Alteration } from "../../../../src/actions/model/alteration.ts";
import {
  columnsOf,
  fixedSizeList,
  int32,
  int64,
  list,
  struct,
  utf8,
} from "../../../../src/schema/declare/type-builders.ts";
import type { ColumnType } from "../../../../src/schema/typed/shape.ts";
import { childColumns, sameType, type Column } from "../../../../src/schema/data-type.ts";
import { formatPath, parsePath, type Path } from "../../../../src/schema/path.ts";
import { findColumn, sameTable, type Table } from "../../../../src/schema/table.ts";
import { anyColumns, leafType, typeNear } from "../../../support/drawn-tables.ts";
import { renames as alterationsOf } from "../../../support/renames.ts";

type AlterColumnsAction = ActionFor<"alterColumns">;

function alter(...alterations: readonly Alteration[]): AlterColumnsAction {
  return { kind: "alterColumns", table: "t", alterations };
}

const renames = (text: string) => alter(...alterationsOf(text));

function inWords({ alterations }: AlterColumnsAction): string {
  return alterations
    .map(({ path, rename, type, nullable }) => {
      const name = rename === undefined ? path : `${path} → ${rename}`;
      return `${name}${type === undefined ? "" : ` ${type.kind}`}${nullable === undefined ? "" : ` nullable ${nullable}`}`;
    })
    .join(", ");
}

function callsOf(action: AlterColumnsAction): readonly AlterColumnsAction[] {
  return oneByOne(action).filter((call) => call.kind === "alterColumns");
}

const [tmpA, tmpS, tmpX] = ["_lance_migrate_swap_a", "_lance_migrate_swap_s", "_lance_migrate_swap_x"];

test.each([
  ["a rename", "a → b", ["a → b"]],
  ["renames beside each other", "a → b, c → d", ["a → b", "c → d"]],
  ["a row of renames", "a → b, b → c", ["b → c", "a → b"]],
  ["a swap", "a → b, b → a", [`a → ${tmpA}`, "b → a", `${tmpA} → b`]],
  ["a circle of three", "a → b, b → c, c → a", [`a → ${tmpA}`, "c → a", "b → c", `${tmpA} → b`]],
  ["a swap beside a rename", "c → d, a → b, b → a", ["c → d", `a → ${tmpA}`, "b → a", `${tmpA} → b`]],
  ["a swap inside a struct", "s.x → y, s.y → x", [`s.x → ${tmpX}`, "s.y → x", `s.${tmpX} → y`]],
  ["a rename inside a struct that is renamed", "s → r, s.x → y", ["s → r", "r.x → y"]],
  [
    "a swap inside a struct that is swapped",
    "s.x → y, s.y → x, s → r, r → s",
    [`s.x → ${tmpX}`, "s.y → x", `s → ${tmpS}`, "r → s", `${tmpS}.${tmpX} → y`, `${tmpS} → r`],
  ],
  ["the same names at two depths", "a → b, s.b → a", ["a → b", "s.b → a"]],
])("%s goes as calls of one alteration that can each be told from nothing", (_, given, expected) => {
  expect(callsOf(renames(given)).map(inWords)).toEqual(expected);
});

test("what data can refuse goes before any name is moved, so that a refused call leaves every name as it was", () => {
  forDrawnCalls((_, call, calls) => {
    const moved = calls.findIndex(({ alterations: [one] }) => one!.rename !== undefined);
    const later = moved === -1 ? [] : calls.slice(moved).filter(({ alterations: [one] }) => one!.rename === undefined);
    expect({ call: inWords(call), later }).toEqual({ call: inWords(call), later: [] });
  });
});

test("an action of one alteration, or of none, stays what it was", () => {
  const actions: readonly Action[] = [
    { kind: "createTable", table: "t", columns: columnsOf({ a: int32() }) },
    renames("a → b"),
    alter({ path: "a", nullable: true }),
  ];
  for (const action of actions) expect(oneByOne(action)).toEqual([action]);
});

test("only renames that exchange names undo themselves when they are repeated", () => {
  forDrawnCalls((_, call) =>
    expect({ call: inWords(call), swaps: swapsNames(call) }).toEqual({ call: inWords(call), swaps: swaps(call) }),
  );
});

test("each swap has a temporary name of its own, as a late call of one must not pass for another", () => {
  const [[first], [second]] = [callsOf(renames("b → c, c → b")), callsOf(renames("d → b, b → d"))];
  expect([first!, second!].map(inWords)).toEqual(["b → _lance_migrate_swap_b", "d → _lance_migrate_swap_d"]);
});

test("a swap in a table that has a column of the temporary name is refused", () => {
  const table = { columns: columnsOf({ a: int32(), b: int32(), [tmpA]: int32() }) };
  expect(() => throughAll(table, callsOf(renames("a → b, b → a")))).toThrow("two columns named");
});

const columns: Readonly<Record<string, ColumnType>> = {
  a: int32(),
  b: int32(),
  s: struct({ x: int32(), y: utf8() }),
  r: struct({ z: int32() }),
  l: list(struct({ q: int32() })),
  f: fixedSizeList(struct({ q: int32() }), 2),
};

test.each<[string, AlterColumnsAction, string]>([
  ["of a rename its new name", renames("a → c"), "c"],
  ["of a nested rename its new path", renames("s.x → w"), "s.w"],
  ["of a rename inside a list its new path", renames("l.item.q → w"), "l.item.w"],
  ["of a rename inside a vector its new path", renames("f.item.q → w"), "f.item.w"],
  ["of a rename to other letters of the same name", renames("a → A"), "A"],
])("what proves an action is %s", (_, action, path) => {
  expect(proofOf(action)).toEqual({ kind: "column", path });
});

test("what proves that a table was created is the list of tables", () => {
  const create: Action = { kind: "createTable", table: "t", columns: columnsOf(columns) };
  expect(proofOf(create)).toEqual({ kind: "listed" });
});

test("a call without renames needs no proof", () => {
  expect(proofOf(alter({ path: "a", type: int64().type }))).toEqual({ kind: "repeatable" });
  expect(proofOf(alter({ path: "b", nullable: true }))).toEqual({ kind: "repeatable" });
});

function after(table: Table, call: Action): Table {
  return tableAfter(new Map([["t", table]]), call);
}

/** The table before the first call and after each. */
function throughAll(table: Table, calls: readonly Action[]): readonly Table[] {
  return calls.reduce((tables, call) => [...tables, after(tables.at(-1)!, call)], [table]);
}

/**
 * The table after a call as the engine makes it: what has no effect it takes, and our model refuses. Undefined where the
 * engine refuses the call.
 */
function afterOnEngine(table: Table, { alterations }: AlterColumnsAction): Table | undefined {
  if (alterations.some(({ path }) => findColumn(table.columns, parsePath(path)) === undefined)) return undefined;
  const left = alterations
    .map(({ path, rename, type, nullable }): Alteration => {
      const column = findColumn(table.columns, parsePath(path))!;
      return {
        path,
        ...(rename === undefined || rename === column.name ? {} : { rename }),
        ...(type === undefined || sameType(type, column.type) ? {} : { type }),
        ...(nullable === undefined || nullable === column.nullable ? {} : { nullable }),
      };
    })
    .filter((alteration) => Object.keys(alteration).length > 1);
  return left.length === 0 ? table : unlessRefused(table, alter(...left));
}

function unlessRefused(table: Table, call: Action): Table | undefined {
  try {
    return after(table, call);
  } catch (error) {
    if (isMigrateError(error)) return undefined;
    throw error;
  }
}

/** The columns that stand side by side, and where: those of the table and those of every struct in it. */
function levels(all: readonly Column[], parent: Path = []): readonly { parent: Path; columns: readonly Column[] }[] {
  const inside = all.flatMap(({ name, type }) => levels(childColumns(type), [...parent, name]));
  return all.length === 0 ? inside : [{ parent, columns: all }, ...inside];
}

// Also names that differ from others only in case, and that are no longer free.
const freshNames = ["f", "g", "A", "B", "größe", "tmp"];

const wideColumns: fc.Arbitrary<readonly Column[]> = fc
  .uniqueArray(fc.constantFrom("a", "b", "c", "d", "e", "g", "h"), { minLength: 2 })
  .chain((names) =>
    fc.tuple(
      ...names.map((name) =>
        fc.record({
          name: fc.constant(name),
          nullable: fc.boolean(),
          type: fc.oneof(
            leafType.filter(({ kind }) => kind !== "null"),
            fc.constantFrom(
              struct({ a: int32(), b: int32(), c: utf8() }).type,
              struct({ a: struct({ a: int32(), b: utf8() }), b: struct({ a: int64(), b: int32() }) }).type,
              list(struct({ a: int32(), b: struct({ a: int32(), b: int32() }) })).type,
            ),
          ),
        }),
      ),
    ),
  );

/** A table and one call on it that our model takes. */
const cases = fc.tuple(fc.oneof(anyColumns, wideColumns), fc.gen()).map(([all, draw]) => {
  const table: Table = { columns: all };
  const retypes = draw(fc.boolean);
  const calls = levels(all).map(({ parent, columns: siblings }) => {
    const own = siblings.map(({ name }) => name);
    // All names handed around, none, or some and others in between.
    const drawn = draw(fc.shuffledSubarray<string>, draw(fc.boolean) ? own : [...own, ...freshNames], {
      minLength: own.length,
    });
    const moves = draw(fc.constantFrom, "all", "some", "none");
    return siblings.map(({ name, type, nullable }, index): Alteration => {
      const rename = moves === "all" || (moves === "some" && draw(fc.boolean)) ? drawn[index]! : name;
      const changed = draw(fc.nat, { max: 3 }) === 0;
      return {
        path: formatPath([...parent, name]),
        ...(rename === name ? {} : { rename }),
        ...(changed && retypes ? { type: draw(typeNear, type) } : {}),
        ...(changed && !retypes ? { nullable: !nullable } : {}),
      };
    });
  });
  const alterations = draw(fc.shuffledSubarray<Alteration>, calls.flat(), { minLength: calls.flat().length }).filter(
    (one) => Object.keys(one).length > 1,
  );
  const onlyRenames = alterations.flatMap(({ path, rename }) => (rename === undefined ? [] : [{ path, rename }]));
  const without = (rest: readonly Alteration[]) => rest.filter(({ path }) => !path.includes("."));
  const taken = [alterations, onlyRenames, without(alterations), without(onlyRenames)]
    .filter((some) => some.length > 0)
    .map((some) => alter(...some))
    .find((call) => unlessRefused(table, call) !== undefined);
  return { table, call: taken };
});

/** Whether some renames of a call only hand names around: no end of a row can be taken away until none is left. */
function swaps({ alterations }: AlterColumnsAction): boolean {
  let left = alterations.flatMap(({ path, rename }) => {
    const from = parsePath(path);
    return rename === undefined ? [] : [{ from: formatPath(from), to: formatPath([...from.slice(0, -1), rename]) }];
  });
  for (;;) {
    const isTaken = (one: (typeof left)[number]) =>
      left.some((other) => other !== one && other.from.toLowerCase() === one.to.toLowerCase());
    const rest = left.filter(isTaken);
    if (rest.length === left.length) return rest.length > 0;
    left = rest;
  }
}

/** Checks something on many drawn calls, and that there were enough of each sort. */
function forDrawnCalls(check: (table: Table, call: AlterColumnsAction, calls: readonly AlterColumnsAction[]) => void) {
  const seen = { calls: 0, swaps: 0, nestedSwaps: 0, others: 0 };
  fc.assert(
    fc.property(cases, ({ table, call }) => {
      if (call === undefined) return;
      check(table, call, callsOf(call));
      seen.calls++;
      if (!swaps(call)) return;
      seen.swaps++;
      if (call.alterations.some(({ path, rename }) => path.includes(".") && rename !== undefined)) seen.nestedSwaps++;
      if (call.alterations.some(({ type, nullable }) => type !== undefined || nullable !== undefined)) seen.others++;
    }),
    { numRuns: 400 },
  );
  expect(seen.calls).toBeGreaterThan(120);
  expect(seen.swaps).toBeGreaterThan(40);
  expect(seen.nestedSwaps).toBeGreaterThan(20);
  expect(seen.others).toBeGreaterThan(8);
}

test("the calls of one alteration each make together the table of the one call", () => {
  forDrawnCalls((table, call, calls) => {
    expect(throughAll(table, calls).at(-1)).toEqual(after(table, call));
  });
});

test("no call of one alteration swaps", () => {
  forDrawnCalls((_table, _call, calls) => {
    expect(calls.map(inWords).filter((_text, index) => swaps(calls[index]!))).toEqual([]);
    expect(calls.filter(({ alterations }) => alterations.length !== 1)).toEqual([]);
  });
});

test("a call that is sent twice is refused the second time when it renames, and changes nothing when it does not", () => {
  forDrawnCalls((table, _, calls) => {
    const tables = throughAll(table, calls);
    for (const [index, call] of calls.entries()) {
      const again = afterOnEngine(tables[index + 1]!, call);
      const renamed = call.alterations.some(({ rename }) => rename !== undefined);
      expect({ call: inWords(call), again }).toEqual({
        call: inWords(call),
        again: renamed ? undefined : tables[index + 1],
      });
    }
  });
});

test("what proves a call is a column of the table after it and none of the table before it", () => {
  forDrawnCalls((table, _, calls) => {
    const tables = throughAll(table, calls);
    for (const [index, call] of calls.entries()) {
      const proof = proofOf(call);
      if (proof.kind !== "column") {
        expect(call.alterations.every(({ rename }) => rename === undefined)).toBe(true);
        continue;
      }
      const path = parsePath(proof.path);
      expect(findColumn(tables[index]!.columns, path)).toBeUndefined();
      expect(findColumn(tables[index + 1]!.columns, path)).toBeDefined();
      // The question is accepted after it, changes nothing, and is refused before it.
      const question = alter({ path: proof.path, rename: path.at(-1) });
      expect(sameTable(afterOnEngine(tables[index + 1]!, question), tables[index + 1])).toBe(true);
      expect(afterOnEngine(tables[index]!, question)).toBeUndefined();
    }
  });
});
