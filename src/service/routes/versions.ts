/** Routes for versions and tags. */
import { z } from "zod";
import { checkOut } from "./tables.ts";
import { committed, json, routesOf, text, textParameter, versionNumber } from "./route.ts";

const { read, write, change } = routesOf("versions");

/** The name of a file, which file systems limit. */
const tag = text.min(1, "must not be empty").max(240, "must not be longer than 240 characters");

export const versionRoutes = [
  read({
    path: "/v1/table/:name/version/list",
    summary: "The versions of a table",
    query: z.looseObject({ limit: textParameter.optional() }),
    body: json({}),
    answer: z.object({
      versions: z.array(
        z.object({
          version: z.int(),
          timestamp: z.string(),
          timestamp_millis: z.int(),
          metadata: z.record(z.string(), z.string()),
        }),
      ),
    }),
    handler: async (table) => ({
      versions: (await table.listVersions()).map(({ version, timestamp, metadata }) => ({
        version,
        timestamp: timestamp.toISOString(),
        timestamp_millis: timestamp.getTime(),
        metadata,
      })),
    }),
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
    summary: "The tags of a table, as an object by their names",
    body: json({}),
    answer: z.record(z.string(), z.object({ version: z.int(), manifestSize: z.int() })),
    handler: async (table) => {
      const tags = await (await table.tags()).list();
      return Object.fromEntries(
        Object.entries(tags).map(([tag, { version, manifestSize }]) => [tag, { version, manifestSize }]),
      );
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
