/** Old versions of tables on a service of the namespace dialect. */
import { isNumber, isObject, isText } from "../../checks/check.ts";
import { streamType } from "../../wire/content-types.ts";
import { describeVersion, misfitsSince } from "../../targets/contract/restore-versions.ts";
import type { VersionedTable } from "../../targets/contract/versioned-table.ts";
import type { Versions } from "../../targets/contract/versions.ts";
import { writtenSince } from "../../targets/contract/written-since.ts";
import { isTexts, jsonOf, parseDescription } from "./parse-answers.ts";
import type { Client } from "./client.ts";
import { indexesOf } from "./describe.ts";
import { allRows } from "./ledger-table.ts";
import { jsonBody, type HttpResponse } from "./http/message.ts";

/** The names of this tool's tags begin with this. */
const prefix = "lance-migrate-";

/** Versions are kept by tags, because services manage their own files. */
export function restVersions(client: Client): Versions {
  const tagsOf = async (table: string) => {
    const tags = await client.ask("tags", table, {}, parseTags, "list of tags");
    return Object.entries(tags).filter(([name]) => name.startsWith(prefix));
  };
  return {
    async keep(table, version, name) {
      await client.write("createTag", table, { body: jsonBody({ tag: prefix + name, version }) });
    },
    async release(table, name) {
      const tag = prefix + name;
      if ((await tagsOf(table)).some(([one]) => one === tag))
        await client.write("deleteTag", table, { body: jsonBody({ tag }) });
    },
    kept: async (table) =>
      (await tagsOf(table)).map(([name, { version }]) => ({ name: name.slice(prefix.length), version })),
    look: (table, version, after) => describeVersion(versionedTable(client, table), version, after),
    list: (table) => versionedTable(client, table).list(),
    async time(table, version) {
      try {
        return (await versionedTable(client, table).list()).find((one) => one.version === version)?.at;
      } catch (error) {
        if (await client.saysMissing(error, table)) return undefined;
        throw error;
      }
    },
    async at(table, version, withIndexes = false) {
      const columns = await versionedTable(client, table).columns(version);
      const indexes = withIndexes ? { indexes: await indexesOf(client, table, version) } : {};
      return { columns, ...indexes };
    },
    since: (table, version, scope) => writtenSince(versionedTable(client, table), version, scope),
    misfitsSince: (table, reinsertion) => misfitsSince(versionedTable(client, table), reinsertion),
  };
}

type VersionEntry = Awaited<ReturnType<VersionedTable["list"]>>[number];
type Tags = Readonly<Record<string, { readonly version: number }>>;

/** LanceDB's own services send the tags bare; the namespace's document wraps them in an object. */
function parseTags(response: HttpResponse): Tags | undefined {
  const answer = jsonOf(response);
  const wrapped = isObject(answer) ? answer["tags"] : undefined;
  return [wrapped, answer].find(areTags);
}

function areTags(value: unknown): value is Tags {
  return isObject(value) && Object.values(value).every((tag) => isObject(tag) && isNumber(tag["version"]));
}

function parseVersions(response: HttpResponse): readonly VersionEntry[] | undefined {
  const answer = jsonOf(response);
  const list = isObject(answer) ? answer["versions"] : undefined;
  if (!Array.isArray(list)) return undefined;
  const versions = list.map(versionIn);
  if (!versions.every((one) => one !== undefined)) return undefined;
  return versions.toSorted((one, other) => one.version - other.version);
}

function versionIn(entry: unknown): VersionEntry | undefined {
  if (!isObject(entry)) return undefined;
  const { version, metadata = null, timestamp, timestamp_millis: milliseconds } = entry;
  if (!isNumber(version) || !(metadata === null || isTexts(metadata))) return undefined;
  const at = isNumber(milliseconds) ? milliseconds : Date.parse(isText(timestamp) ? timestamp : "");
  return { version, metadata: metadata ?? {}, at: timeOf(at) };
}

function timeOf(milliseconds: number): number | undefined {
  return Number.isNaN(new Date(milliseconds).getTime()) ? undefined : milliseconds;
}

export function versionedTable(client: Client, table: string): VersionedTable {
  const described = (version: number | undefined) =>
    client.ask("describe", table, version === undefined ? {} : { version }, parseDescription, "description of a table");
  const query = async (version: number, more: object): Promise<Buffer> =>
    (await client.read("query", table, { version, k: allRows, vector: [], prefilter: true, ...more })).body;
  return {
    // The whole answer is held in memory.
    mostCompared: 100_000,
    async version() {
      const { version } = await described(undefined);
      if (version === undefined) throw new Error("the service does not tell a table's version");
      return version;
    },
    list: () => client.ask("versions", table, {}, parseVersions, "list of versions"),
    columns: async (version) => (await described(version)).columns,
    contents: async (version) => (await described(version)).contents,
    count: (version, filter) => client.count(table, filter, version),
    async *batches(version, columns, filter) {
      const isNames = (all: typeof columns): all is readonly string[] => typeof all[0] === "string";
      yield await query(version, { columns: isNames(columns) ? columns : Object.fromEntries(columns), filter });
    },
    async rows(version, filter, columns) {
      const names = columns === undefined ? (await described(version)).columns.map(({ name }) => name) : undefined;
      return await query(version, { filter, columns: names ?? Object.fromEntries(columns!) });
    },
    async restore(version) {
      await client.write("restore", table, { body: jsonBody({ version }) });
    },
    async append(file) {
      const { toStream } = await import("../../wire/arrow/ipc-file.ts"); // apache-arrow is slow to load
      await client.write("insert", table, { body: { type: streamType, bytes: toStream(file) } });
    },
  };
}
