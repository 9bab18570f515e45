/** The format of a table's files, and which clients can read and write a table of that format (docs/clients.md). */
import type { IndexKind } from "./table-index.ts";

/** Versions of Lance's file format in which new tables can be created. */
export const dataStorageVersions = ["2.0", "2.1", "2.2"] as const;

/** Versions in which there are no blobs, and the engine can't add fields to structs (measured). */
export const beforeBlobs: ReadonlySet<string> = new Set(["0.1", "2.0", "2.1"]);

/** Whether a null in a blob looks like an empty one to a query (measured). */
export function hidesNullsOfBlobs(format: TableFormat | undefined): boolean {
  return format === undefined || ["0.1", "2.0"].includes(format.dataStorageVersion);
}

export interface TableFormat {
  /** The version of Lance's file format, such as "2.1". */
  readonly dataStorageVersion: string;
  /** Whether rows keep their ids when they are changed or moved. */
  readonly stableRowIds: boolean;
}

/** The format of new tables. The engine chooses what is absent. */
export interface NewTables {
  readonly dataStorageVersion?: (typeof dataStorageVersions)[number] | undefined;
  readonly stableRowIds?: boolean | undefined;
}

/** The format as text: `file format 2.2 with stable row ids`. */
export function formatWords({ dataStorageVersion, stableRowIds }: TableFormat): string {
  return `file format ${dataStorageVersion}${stableRowIds ? " with stable row ids" : ""}`;
}

/** Which clients can read and write a table, as `npm run check clients` measured it. */
export function clientsOf({ dataStorageVersion, stableRowIds }: TableFormat): string {
  const harm = harms.get(dataStorageVersion);
  if (harm === undefined) return "it was not measured which clients read and write that format (docs/clients.md)";
  if (stableRowIds)
    return "LanceDB's clients for JavaScript from 0.30 and Python from 0.33 read and write it; older ones damage it or read too few rows without an error (docs/clients.md)";
  return harm;
}

const unseen =
  "all clients that were measured read and write it, but JavaScript 0.22 and Python before 0.30 ignore indexes of the kinds labelList, fts and ivfRq, and fail with fm (docs/clients.md)";

/** What older clients can't do with an index that a step builds, as `npm run check indexes` measured it; undefined if they can all. */
export function indexHarm(
  kind: IndexKind,
  { dataStorageVersion }: Pick<TableFormat, "dataStorageVersion">,
): string | undefined {
  const harm = indexHarms[kind];
  return typeof harm === "string" ? harm : dataStorageVersion === "2.2" ? undefined : harm?.before;
}

/** `before`: only of clients that can't read file format 2.2 either. */
const indexHarms: Readonly<Record<IndexKind, string | { readonly before: string } | undefined>> = {
  btree: undefined,
  bitmap: undefined,
  labelList: undefined,
  fts: {
    before:
      "clients for JavaScript before 0.27 and Python before 0.30 ignore it: some of their searches fail, and others find only the exact word, without an error",
  },
  fm: {
    before: "with clients for JavaScript before 0.27 and Python before 0.30, filters on its column and `optimize` fail",
  },
  ivfFlat: undefined,
  ivfPq: undefined,
  ivfRq: "with clients for JavaScript up to 0.30 and Python up to 0.33, `optimize` fails once rows have been added",
  hnswPq: undefined,
  hnswSq: undefined,
};

const harms: ReadonlyMap<string, string> = new Map([
  ["0.1", "the engine itself stores no nulls in it: they become zeros, false and empty lists (docs/clients.md)"],
  ["2.0", unseen],
  ["2.1", unseen],
  [
    "2.2",
    "LanceDB's clients for JavaScript from 0.27 and Python from 0.30 read and write it; older ones can't read it, and after an append by JavaScript 0.22 or Python 0.25 no client can (docs/clients.md)",
  ],
]);
