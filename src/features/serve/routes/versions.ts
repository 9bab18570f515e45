/** Routes for versions and tags. */
import { z } from "zod";
import type { EngineTable } from "../../../engine/engine.ts";
import { manifestPath } from "../../../engine/manifest/manifest.ts";
import { refuse } from "../tables/error-answer.ts";
import { checkOut } from "./tables.ts";
import { json } from "./fields.ts";
import {
  committed,
  flag,
  flagParameter,
  optional,
  page,
  pageFields,
  pageOf,
  routesOf,
  tag,
  versionNumber,
} from "./route.ts";

const { read, write, change } = routesOf("versions");

const listedVersion = z.object({
  version: z.int(),
  timestamp: z.string(),
  timestamp_millis: z.int(),
  /** In the data folder. */
  manifest_path: z.string(),
  metadata: z.record(z.string(), z.string()),
});

const tagList = z.record(z.string(), z.object({ version: z.int(), manifestSize: z.int() }));

export const versionRoutes = [
  read({
    path: "/v1/table/:name/version/list",
    summary: "The versions of a table, the oldest first unless descending is true",
    query: page.extend({ descending: flagParameter.optional() }),
    body: json({ ...pageFields, descending: optional(flag) }),
    answer: z.object({ versions: z.array(listedVersion), page_token: z.string().optional() }),
    handler: async (table, { tables, query, body }) => {
      const versions = (await versionsOf(table, tables.folder)).toSorted((one, other) => one.version - other.version);
      const isDescending = (query.descending ?? body.descending) === true;
      const { shown, next } = pageOf(
        isDescending ? versions.toReversed() : versions,
        { ...body, ...query },
        ({ version }) => String(version),
        ({ version }, token) => (isDescending ? version < Number(token) : version > Number(token)),
      );
      return { versions: shown, ...next };
    },
  }),
  read({
    path: "/v1/table/:name/version/describe",
    summary: "One version of a table; the newest by default",
    body: json({ version: optional(versionNumber) }),
    answer: z.object({ version: listedVersion }),
    handler: async (table, { tables, body }) => {
      const wanted = body.version ?? (await table.version());
      const found = (await versionsOf(table, tables.folder)).find(({ version }) => version === wanted);
      if (found === undefined) throw refuse(404, "versionNotFound", `Table '${table.name}' has no version ${wanted}`);
      return { version: found };
    },
  }),
  change({
    path: "/v1/table/:name/restore",
    summary: "Make an old version the newest one",
    body: json({ version: versionNumber }),
    answer: committed,
    handler: async (table, { body }) => {
      await checkOut(table, body);
      await table.restore();
      return { version: await table.version() };
    },
  }),
  read({
    path: "/v1/table/:name/tags/list",
    summary: "The tags of a table by their names; in an object of that name, unless the path ends in a slash",
    query: page,
    body: json(pageFields),
    answer: z.union([tagList, z.object({ tags: tagList, page_token: z.string().optional() })]),
    handler: async (table, { protocol, query, body }) => {
      const tags = Object.entries(await (await table.tags()).list())
        .map(([tag, { version, manifestSize }]) => [tag, { version, manifestSize }] as const)
        .toSorted(([one], [other]) => (one < other ? -1 : 1));
      // LanceDB's clients read tags that are not wrapped, those of the namespace only wrapped ones.
      if (protocol === "lancedb") return Object.fromEntries(tags);
      const { shown, next } = pageOf(tags, { ...body, ...query }, ([tag]) => tag);
      return { tags: Object.fromEntries(shown), ...next };
    },
  }),
  read({
    path: "/v1/table/:name/tags/version",
    summary: "The version that a tag stands for",
    body: json({ tag }),
    answer: committed,
    handler: async (table, { body }) => ({ version: await (await table.tags()).getVersion(body.tag) }),
  }),
  write({
    path: "/v1/table/:name/tags/create",
    summary: "Give a version a tag",
    body: json({ tag, version: versionNumber }),
    handler: async (table, { body }) => await (await table.tags()).create(body.tag, body.version),
  }),
  write({
    path: "/v1/table/:name/tags/update",
    summary: "Move a tag to another version",
    body: json({ tag, version: versionNumber }),
    handler: async (table, { body }) => await (await table.tags()).update(body.tag, body.version),
  }),
  write({
    path: "/v1/table/:name/tags/delete",
    summary: "Delete a tag",
    body: json({ tag }),
    handler: async (table, { body }) => await (await table.tags()).delete(body.tag),
  }),
];

async function versionsOf(table: EngineTable, folder: string): Promise<z.output<typeof listedVersion>[]> {
  return (await table.listVersions()).flatMap(({ version, timestamp, metadata }) => {
    const manifest = manifestPath({ folder, table: table.name, version });
    // A version without a manifest was cleaned up meanwhile.
    if (manifest === undefined) return [];
    return [
      {
        version,
        timestamp: timestamp.toISOString(),
        timestamp_millis: timestamp.getTime(),
        manifest_path: manifest,
        metadata,
      },
    ];
  });
}
