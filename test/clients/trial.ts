/** One client at one piece of work on one table, and what the tool's own client finds afterwards. */
import { isDeepStrictEqual } from "node:util";
import type { Client, Task } from "./client.ts";
import type { Made, Row } from "./tables.ts";

export interface Outcome {
  /**
   * - `ok`: done, and all values are as they should be.
   * - `refused`: an error, and the table is as it was.
   * - `wrong`: no error, and the client read something else than is there.
   * - `damaged`: the table no longer holds, or gives, what it should, whether or not there was an error.
   */
  readonly verdict: "ok" | "refused" | "wrong" | "damaged";
  readonly why: readonly string[];
  /** What the versions of rows got wrong on a table with stable row ids. */
  readonly versions: readonly string[];
}

interface Work {
  readonly task: Task;
  /** What the client should read. */
  readonly reads?: unknown;
  /** What the table should hold afterwards. */
  readonly leaves: readonly Row[];
}

const idOf = (row: Row) => Number(row["id"]);

export function worksOn({ rows, row }: Made): Readonly<Record<string, Work>> {
  const added = [101, 102, 103].map(row);
  const keys = [3, 31, 104];
  const merged = keys.map((id) => ({ ...row(id), name: "merged" }));
  const isMerged = (one: Row) => keys.includes(idOf(one));
  const updated = (all: readonly Row[]) => all.map((one) => (idOf(one) % 4 === 1 ? { ...one, name: "updated" } : one));
  const deleted = (all: readonly Row[]) => all.filter((one) => idOf(one) % 6 !== 0);
  const upserted = (all: readonly Row[]) => [...all.filter((one) => !isMerged(one)), ...merged];
  const append: Task = { what: "append", rows: added };
  const update: Task = { what: "update", where: "id % 4 = 1", values: { name: "updated" } };
  const remove: Task = { what: "delete", where: "id % 6 = 0" };
  const merge: Task = { what: "mergeInsert", rows: merged };
  const optimize: Task = { what: "optimize" };
  const read = (task: Task, reads: unknown): Work => ({ task, reads, leaves: rows });
  const where = "name = 'name 4' and id > 5";
  const nearest = rows.map(idOf).toSorted((one, other) => Math.abs(one - 7.1) - Math.abs(other - 7.1));
  return {
    scan: read({ what: "scan" }, rows),
    count: read({ what: "count" }, rows.length),
    filter: read(
      { what: "filter", where },
      rows.filter((one) => one["name"] === "name 4" && idOf(one) > 5),
    ),
    search: read({ what: "search", vector: [7.1, 7.6, -7.1, 1], k: 2 }, nearest.slice(0, 2)),
    append: { task: append, leaves: [...rows, ...added] },
    update: { task: update, leaves: updated(rows) },
    delete: { task: remove, leaves: deleted(rows) },
    mergeInsert: { task: merge, leaves: upserted(rows) },
    optimize: { task: optimize, leaves: rows },
    createIndex: { task: { what: "createIndex", name: "id" }, leaves: rows },
    "all writes": {
      task: { what: "all", steps: [append, update, remove, merge, optimize] },
      leaves: upserted(deleted(updated([...rows, ...added]))),
    },
  };
}

/** Tries it in a copy of the table's folder; `own` is the client that the tool has. */
export async function tryWork(client: Client, own: Client, copy: string, made: Made, work: Work): Promise<Outcome> {
  const answer = await client.ask(copy, work.task);
  const isRefused = "error" in answer;
  const why = isRefused ? [shortened(answer.error)] : [];
  const expected = isRefused ? made.rows : work.leaves;
  // Of several writes the first may have been done.
  const isPartial = isRefused && work.task.what === "all";
  const harm = await harmDone(own, copy, expected, isPartial);
  if (harm.length > 0) return { verdict: "damaged", why: [...why, ...harm], versions: [] };
  if (isRefused) return { verdict: "refused", why, versions: [] };
  const misread = work.reads === undefined ? undefined : difference(answer.value, work.reads);
  if (misread !== undefined) return { verdict: "wrong", why: [misread], versions: [] };
  const versions = isRowWrite(work) ? await wrongVersions(own, copy, made, work.leaves) : [];
  const later = await harmLater(client, own, copy, expected);
  return { verdict: later.length > 0 ? "damaged" : "ok", why: later, versions };
}

const isRowWrite = ({ task }: Work) => ["append", "update", "mergeInsert", "all"].includes(task.what);

/** How the table differs from what it should hold, read whole and through each filter. */
async function harmDone(
  own: Client,
  copy: string,
  rows: readonly Row[],
  isPartial: boolean,
): Promise<readonly string[]> {
  const filters: Readonly<Record<string, (row: Row) => boolean>> = isPartial
    ? {}
    : {
        "name = 'updated'": ({ name }) => name === "updated",
        "name = 'merged'": ({ name }) => name === "merged",
        "name = 'name 4'": ({ name }) => name === "name 4",
        "name is null": ({ name }) => name === null,
        "id > 100": (row) => idOf(row) > 100,
        "id = 7": (row) => idOf(row) === 7,
      };
  const found: string[] = [];
  const compare = async (words: string, task: Task, wanted: unknown) => {
    const answer = await own.ask(copy, task);
    const problem =
      "error" in answer ? shortened(answer.error) : isPartial ? undefined : difference(answer.value, wanted);
    if (problem !== undefined) found.push(`afterwards ${words}: ${problem}`);
  };
  await compare("a scan", { what: "scan" }, rows);
  await compare("a count", { what: "count" }, rows.length);
  for (const [where, holds] of Object.entries(filters))
    await compare(`where ${where}`, { what: "filter", where }, rows.filter(holds));
  return found;
}

/** What goes wrong when the tool's client writes on, and the other one reads that. */
async function harmLater(client: Client, own: Client, copy: string, rows: readonly Row[]): Promise<readonly string[]> {
  await own.ask(copy, { what: "update", where: "id = 5", values: { name: "again" } });
  await own.ask(copy, { what: "optimize" });
  const wanted = rows.map((row) => (idOf(row) === 5 ? { ...row, name: "again" } : row));
  const [mine, theirs] = [await own.ask(copy, { what: "scan" }), await client.ask(copy, { what: "scan" })];
  const harm = "error" in mine ? shortened(mine.error) : difference(mine.value, wanted);
  // That it can't read at all is told of its scan.
  const misread = "error" in theirs ? undefined : difference(theirs.value, wanted);
  return [
    ...(harm === undefined ? [] : [`after update and optimize: ${harm}`]),
    ...(misread === undefined ? [] : [`it misreads what is written later: ${misread}`]),
  ];
}

/** Rows whose versions say something else of this write than is so. */
async function wrongVersions(own: Client, copy: string, made: Made, rows: readonly Row[]): Promise<readonly string[]> {
  const before = new Map(made.rows.map((row) => [idOf(row), row]));
  const names = { created: "_row_created_at_version", updated: "_row_last_updated_at_version" };
  const answer = await own.ask(copy, { what: "scan", select: ["id", ...Object.values(names)] });
  if ("error" in answer) return [shortened(answer.error)];
  const told = new Map((answer.value as Row[]).map((row) => [idOf(row), row]));
  const isAfter = (row: Row, name: string) => Number(told.get(idOf(row))?.[name]) > made.version;
  const missed = (name: string, isWritten: (row: Row) => boolean) =>
    rows.filter((row) => isWritten(row) && !isAfter(row, name)).map(idOf);
  const isChanged = (row: Row) => !isDeepStrictEqual(sorted(row), sorted(before.get(idOf(row)) ?? {}));
  const updated = missed(names.updated, isChanged);
  const created = missed(names.created, (row) => !before.has(idOf(row)));
  return [
    ...(updated.length === 0 ? [] : [`${names.updated} misses rows that were written`]),
    ...(created.length === 0 ? [] : [`${names.created} misses rows that were added`]),
  ];
}

/** How one value differs from another, in a few words; rows in any order. */
function difference(found: unknown, wanted: unknown): string | undefined {
  const [one, other] = [inOrder(found), inOrder(wanted)];
  if (isDeepStrictEqual(one, other)) return undefined;
  if (!isRows(one) || !isRows(other)) return `${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`;
  if (one.length !== other.length) return `${one.length} rows instead of ${other.length}`;
  const index = one.findIndex((row, at) => !isDeepStrictEqual(row, other[at]));
  const names = Object.keys({ ...one[index], ...other[index] });
  const differing = names.filter((name) => !isDeepStrictEqual(one[index]![name], other[index]![name]));
  return differing
    .map((name) => `${name} ${JSON.stringify(one[index]![name])} instead of ${JSON.stringify(other[index]![name])}`)
    .join(", ");
}

function isRows(value: unknown): value is readonly Row[] {
  return Array.isArray(value) && value.every((one) => typeof one === "object" && one !== null);
}

function inOrder(value: unknown): unknown {
  return isRows(value) ? value.toSorted((one, other) => idOf(one) - idOf(other)).map(sorted) : value;
}

function sorted(row: Row): Row {
  return Object.fromEntries(Object.entries(row).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** An error's first line, without the places in the engine's source. */
function shortened(text: string): string {
  const [line = ""] = text.split("\n", 1);
  return line
    .replace(/, \/\S*\.rs:\d+(:\d+)?/g, "")
    .replace(/task \d+/, "a task")
    .slice(0, 160);
}
