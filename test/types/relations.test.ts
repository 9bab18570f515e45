/** What TypeScript is told of casts and shapes is what the code knows of them, for all pairs of types. */
import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import * as m from "lance-migrate";
import { castVerdict } from "../../src/schema/cast-rules.ts";
import { formatType, sameType, type DataType } from "../../src/schema/data-type.ts";
import { layOutType } from "../../src/features/types/print/print-type.ts";
import { shapeSource } from "../../src/features/types/history-types.ts";
import { typeSource } from "../../src/schema/text/typescript-source.ts";
import { layOut } from "../../src/features/shared/print-source.ts";
import { root, temporaryFolder } from "../support/project.ts";
import { typeProblems } from "../support/type-check.ts";

const leaves = [
  m.int8(),
  m.int16(),
  m.int32(),
  m.int64(),
  m.uint8(),
  m.uint16(),
  m.uint32(),
  m.uint64(),
  m.float16(),
  m.float32(),
  m.float64(),
  m.bool(),
  m.nullType(),
  m.utf8(),
  m.largeUtf8(),
  m.binary(),
  m.largeBinary(),
  m.fixedSizeBinary(4),
  m.fixedSizeBinary(8),
  m.decimal128(10, 2),
  m.decimal128(12, 2),
  m.date32(),
  m.date64(),
  m.time32("s"),
  m.time32("ms"),
  m.time64("us"),
  m.time64("ns"),
  m.timestamp("s"),
  m.timestamp("ns"),
  m.timestamp("us", "UTC"),
  m.timestamp("us", "Europe/Berlin"),
  m.duration("s"),
  m.duration("ns"),
];

const inOthers = [m.int8(), m.int64(), m.float32(), m.utf8(), m.largeUtf8(), m.binary(), m.bool()].flatMap((value) => [
  m.dictionary(m.int32(), value),
  m.list(value),
  m.list(value.notNull()),
  m.largeList(value),
]);

const types: readonly DataType[] = [
  ...leaves,
  ...inOthers,
  m.vector(4),
  m.vector(4, m.float64()),
  m.vector(8),
  m.fixedSizeList(m.uint8(), 4),
  m.fixedSizeList(m.int8(), 4),
  m.fixedSizeList(m.vector(4), 4),
  m.list(m.list(m.utf8())),
  m.list(m.vector(4)),
  m.list(m.timestamp("us")),
  m.list(m.struct({ a: m.int8() })),
  m.struct({ a: m.int8() }),
  m.struct({ a: m.int64().notNull() }),
  m.struct([
    ["b", m.list(m.int8())],
    ["1", m.struct({ "x y": m.utf8() }).notNull()],
  ]),
].map(({ type }) => type);

/** Every line is an error when what it says is not so. */
function checked(lines: readonly string[]): readonly string[] {
  const folder = temporaryFolder();
  const imported = (path: string) => JSON.stringify(join(root, "src/schema", path));
  const text = `import * as m from ${imported("declare/type-builders.ts")};
import type { Castable } from ${imported("typed/cast.ts")};
import type { ShapeOf } from ${imported("typed/shape.ts")};
type Is<One, Other> = [One] extends [Other] ? ([Other] extends [One] ? true : [One]) : [One];
const right = <Claim extends true>(claim?: Claim) => claim;
${types.map((type, index) => `const t${index} = ${call(type)};\ntype T${index} = ShapeOf<typeof t${index}>;`).join("\n")}
export const all = [${types.map((_, index) => `t${index}`).join(", ")}];
${lines.join("\n")}
`;
  writeFileSync(join(folder, "claims.ts"), text);
  const compilerOptions = {
    noUnusedLocals: false,
    types: ["node"],
    typeRoots: [join(root, "node_modules/@types")],
    rootDir: "/",
  };
  const config = { extends: join(root, "tsconfig.json"), compilerOptions, include: ["claims.ts"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  writeFileSync(join(folder, "package.json"), `{ "type": "module" }`);
  const written = text.split("\n");
  return typeProblems(folder).map(({ line, text: problem }) => `${written[line - 1]} ${problem}`);
}

function call(type: DataType): string {
  return layOut(typeSource(type), { indent: 0, used: 0, tail: 0, prefix: "m." });
}

const pairs = types.flatMap((from, one) => types.map((to, other) => ({ from, to, one, other })));

function castClaims(isRight: (from: DataType, to: DataType) => boolean): readonly string[] {
  return pairs
    .filter(({ from, to }) => !sameType(from, to))
    .map(({ from, to, one, other }) => {
      const words = `${formatType(from)} to ${formatType(to)}`;
      return `right<Is<Castable<T${one}, T${other}>, ${isRight(from, to)}>>(); // ${words}`;
    });
}

test("TypeScript takes just the casts that the engine takes", () => {
  expect(checked(castClaims((from, to) => castVerdict(from, to).allowed))).toEqual([]);
});

test("a type has the shape in TypeScript that history.d.ts gives it", () => {
  const claims = types.flatMap((type, index) => [
    `right<Is<T${index}, ${shapeText(type, true)}>>();`,
    ...(type.kind === "null"
      ? []
      : [
          `const n${index} = t${index}.notNull();`,
          `export const e${index} = n${index};`,
          `right<Is<ShapeOf<typeof n${index}>, ${shapeText(type, false)}>>();`,
        ]),
  ]);
  expect(checked(claims)).toEqual([]);
});

function shapeText(type: DataType, nullable: boolean): string {
  return layOutType(shapeSource({ type, nullable }), 0, 0);
}

test("a claim that is not so is found", () => {
  const wrong = checked(castClaims((from, to) => from.kind === "int8" && castVerdict(from, to).allowed));
  expect(wrong.length).toBeGreaterThan(100);
});
