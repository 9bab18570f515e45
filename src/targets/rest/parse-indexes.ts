/** Parses the list of a table's indexes. */
import { z } from "zod";
import type { FoundIndex } from "../../schema/table-index.ts";
import { toIndex } from "../../wire/lance/lance-index.ts";
import { jsonOf, parsedJson } from "./parse-answers.ts";
import type { HttpResponse } from "./http/message.ts";

const list = z.looseObject({
  indexes: z.array(
    z.looseObject({
      index_name: z.string(),
      index_type: z.string().nullish(),
      columns: z.array(z.string()),
      // LanceDB's services send the details as text that holds JSON; others send the object itself.
      index_details: z
        .unknown()
        .optional()
        .transform((details) => (typeof details === "string" ? parsedJson(details) : details)),
    }),
  ),
});

/** By name. Undefined for what no service sends. */
export function parseIndexes(answer: HttpResponse): Readonly<Record<string, FoundIndex>> | undefined {
  const parsed = list.safeParse(jsonOf(answer)).data;
  if (parsed === undefined) return undefined;
  const found = parsed.indexes.flatMap(
    ({ index_name: name, index_type: type, columns: [path], index_details: details }) => {
      const index = toIndex(type ?? undefined, path, details);
      return index === undefined ? [] : [[name, index] as const];
    },
  );
  return Object.fromEntries(found);
}
