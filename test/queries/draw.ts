/** Draws queries. */
import { chanceFor, type Chance } from "../simulate/seeded-random.ts";
import { maybe, some } from "./choices.ts";
import { drawFilter } from "./draw-filter.ts";
import { drawText } from "./draw-text.ts";
import type { Nearest, Ordering, Query } from "./query.ts";
import { columnNames, rowsOfTable, vectorOf } from "./tables.ts";

/** The versions of each table that can be checked out. */
export type Versions = Readonly<Record<string, readonly number[]>>;

/** Query `number` of a seed. */
export function drawQuery(seed: number, number: number, versions: Versions): Query {
  const chance = chanceFor(`query ${number}`, seed);
  const table = chance.pick(Object.keys(versions));
  const version = chance.happens(0.15) ? chance.pick(["early", ...versions[table]!]) : undefined;
  const start = { table, version, isAsync: chance.happens(0.5) };
  const kind = chance.pick([
    "rows",
    "rows",
    "vector",
    "vector",
    "vector",
    "text",
    "text",
    "text",
    "hybrid",
    "count",
    "take",
  ]);
  if (kind === "count") return { ...start, what: "count", filter: maybe(chance, 0.8, () => drawFilter(chance)) };
  if (kind === "take") return { ...start, ...drawTake(chance) };
  const hasVector = kind === "vector" || kind === "hybrid";
  const text = kind === "text" || kind === "hybrid" ? drawText(chance) : undefined;
  const nearest = hasVector ? drawNearest(chance, start.isAsync, kind === "vector") : undefined;
  // The engine returns the rows of several vectors in any order of the vectors, and leaves out the first ones of all.
  const hasOffset = nearest === undefined || nearest.vectors.length === 1;
  return {
    ...start,
    what: "rows",
    ...drawProjection(chance),
    filter: maybe(chance, kind === "rows" ? 0.8 : 0.5, () => drawFilter(chance)),
    postfilter: maybe(chance, hasVector ? 0.3 : 0.03, () => true),
    // Without one, versions of the client for Python fetch different numbers of rows in a hybrid search.
    limit: maybe(chance, kind === "hybrid" ? 1 : 0.7, () =>
      chance.pick([...(kind === "hybrid" ? [] : [0]), 1, 2, 3, 5, 10, 11, 40, 1_000]),
    ),
    offset: maybe(chance, hasOffset ? 0.3 : 0, () => chance.pick([0, 1, 2, 3, 7, 50, 600])),
    orderBy: maybe(chance, kind === "rows" ? 0.45 : 0.06, () => drawOrdering(chance)),
    fastSearch: maybe(chance, 0.12, () => true),
    nearest,
    text,
    textColumns:
      typeof text === "string"
        ? maybe(chance, 0.5, () => [chance.pick(["title", "body", "author.name", "words"])])
        : undefined,
    rerank: kind === "hybrid" && chance.happens(0.85) ? true : undefined,
  };
}

function drawTake(chance: Chance): Pick<Query, "what" | "places" | "columns" | "expressions" | "withRowId"> {
  const what = chance.pick(["rowIds", "offsets"] as const);
  // The rows of later fragments have ids that begin with the fragment's number.
  const place = () =>
    what === "rowIds" && chance.happens(0.3) ? 2 ** 32 + chance.below(110) : chance.below(rowsOfTable - 90);
  return { what, places: Array.from({ length: 1 + chance.below(6) }, place), ...drawProjection(chance) };
}

/** Those of the tables, and two within a struct. */
const columns = [...columnNames, "author.name", "author.place.city"];

const expressions: readonly (readonly [string, string])[] = [
  ["id", "id"],
  ["twice", "n * 2"],
  ["sum", "n + small"],
  ["shout", "upper(title)"],
  ["length", "length(coalesce(body, ''))"],
  ["class", "coalesce(genre, 'none')"],
  ["big", "n > 10 and small is not null"],
  ["city", "author.place.city"],
  ["year", "date_part('year', at)"],
  ["rounded", "round(ratio)"],
  ["10", "cast(id as string)"],
  ["2", "`camelCase`"],
  ["odd", "`odd name`"],
  ["price", "price"],
  ["first", "array_element(tags, 1)"],
  ["both", "concat(genre, '-', `camelCase`)"],
];

function drawProjection(chance: Chance): Pick<Query, "columns" | "expressions" | "withRowId"> {
  const withRowId = maybe(chance, 0.25, () => true);
  const many = (from: number) => 1 + chance.below(from);
  const kind = chance.below(10);
  if (kind < 2) return { withRowId };
  if (kind < 7) return { withRowId, columns: some(chance, many(6), columns) };
  if (kind < 9) return { withRowId, expressions: some(chance, many(5), expressions) };
  const odd = [
    [],
    ["id", "id"],
    ["_rowid", "id"],
    ["ID"],
    ["missing"],
    ["_rowaddr"],
    ["id", "_distance"],
    ["_score", "id"],
  ];
  return { withRowId, columns: chance.pick(odd) };
}

/** Mostly with the id at the end, which leaves nothing undecided. */
function drawOrdering(chance: Chance): readonly Ordering[] {
  const by = some(chance, chance.below(3), [
    "n",
    "small",
    "ratio",
    "genre",
    "title",
    "flag",
    "at",
    "price",
    "odd name",
    "author.born",
  ]);
  const all = chance.happens(0.9) || by.length === 0 ? [...by, "id"] : by;
  return all.map((column) => ({
    column,
    ascending: maybe(chance, 0.6, () => chance.happens(0.4)),
    nullsFirst: maybe(chance, 0.4, () => chance.happens(0.5)),
  }));
}

/** Columns of vectors: how many numbers they have, and the distances that they are measured by. */
const vectors: Readonly<Record<string, readonly [number, readonly string[]]>> = {
  vector: [8, ["l2", "cosine", "dot"]],
  near: [3, ["l2", "cosine", "dot"]],
  half: [4, ["l2", "cosine", "dot"]],
  double: [4, ["l2", "cosine", "dot"]],
  bits: [2, ["hamming"]],
  several: [4, ["cosine"]],
};

/** `maybeSeveral`: the ranks of a hybrid search are those of all vectors' rows, in whatever order. */
function drawNearest(chance: Chance, isAsync: boolean, maybeSeveral: boolean): Nearest {
  const column = chance.pick(["vector", "vector", "vector", "near", "near", "half", "double", "bits", "several"]);
  const [length, distances] = vectors[column]!;
  const isBits = column === "bits";
  const vector = () => {
    if (chance.happens(0.01)) return chance.pick([[], [1]]);
    return isBits ? [chance.below(256), chance.below(256)] : vectorOf(chance, length);
  };
  const isAnyDistance = chance.happens(0.05);
  const given = vector();
  return {
    vectors:
      maybeSeveral && chance.happens(0.17) ? [given, vector(), ...(chance.happens(0.5) ? [vector()] : [])] : [given],
    type: isBits
      ? maybe(chance, 0.7, () => "uint8")
      : column === "double"
        ? maybe(chance, 0.5, () => "float64")
        : undefined,
    // Without one, the engine takes the column of that length. The client for synchronous programs does not ask it.
    column: chance.happens(0.04) ? chance.pick(["missing", "n", ...(isAsync ? [undefined, undefined] : [])]) : column,
    distanceType: isAnyDistance
      ? chance.pick(["l2", "hamming", "COSINE"])
      : maybe(chance, isBits ? 0.9 : 0.6, () => chance.pick(distances)),
    ...drawProbes(chance),
    ...maybe(chance, 0.25, () => ({
      lower: maybe(chance, 0.7, () => chance.pick([0, 0.1, 0.5, -1])),
      upper: maybe(chance, 0.8, () => chance.pick([0.4, 1, 2.5, 6])),
    })),
    ef: maybe(chance, 0.15, () => chance.pick([1, 5, 20, 100])),
    refineFactor: maybe(chance, 0.3, () => chance.pick([1, 2, 10])),
    bypassIndex: maybe(chance, 0.2, () => true),
  };
}

function drawProbes(chance: Chance): Partial<Nearest> {
  switch (chance.below(6)) {
    case 0:
      return { nprobes: chance.pick([1, 2, 4, 20]) };
    case 1:
      return {
        minimumNprobes: chance.pick([1, 2, 3]),
        maximumNprobes: maybe(chance, 0.5, () => chance.pick([0, 3, 4, 30])),
      };
    case 2:
      return { maximumNprobes: chance.pick([0, 1, 20, 40]) };
    default:
      return {};
  }
}
