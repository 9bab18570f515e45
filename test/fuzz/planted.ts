/** Bugs of the service, each planted by a change of the source: `npm run check fuzz` has to find every one. */
import type { PlantedBug } from "../support/planted-bug.ts";

/** A draw of this seed shows the bug: the one with the number `near`, or one soon after it. */
export const plantedSeed = 1;

export interface FuzzedBug extends PlantedBug {
  /** What the fuzzer reports: another problem would not show that it has found this bug. */
  readonly shows: RegExp;
}

const [engine, answers, fields, traffic, rows] = [
  "engine/query.ts",
  "features/serve/tables/error-answer.ts",
  "features/serve/routes/fields.ts",
  "features/serve/traffic.ts",
  "features/serve/routes/rows.ts",
];

export const plantedBugs: readonly FuzzedBug[] = Object.entries<readonly [number, RegExp, string, string, string]>({
  "the limit is ignored": [0, /\d+ rows instead of \d+/, engine, "query.limit(limit);", "{}"],
  "the offset is ignored": [0, /order|rows instead of|none/, engine, "query.offset(offset);", "{}"],
  "a filter is ignored": [0, /rows instead of|none/, engine, "query.onlyIf(filter);", "{}"],
  "a conflict named in the text of a value decides the status": [
    0,
    /: 409 .*, and with /,
    answers,
    "if (isConflict(thrown))",
    "if (isConflict(thrown) || /commit conflict/i.test(String(thrown)))",
  ],
  "a missing column named in the text of a value decides the status": [
    0,
    /, and with /,
    answers,
    "/^(Column|Field|FTS field) .*(does not exist|not found)|^No field named|^Merge insert key column/i",
    "/does not exist|not found|No field named/i",
  ],
  "unknown fields of objects in a body are ignored": [
    0,
    /200/,
    fields,
    'return z.strictObject(own, { error: problemWith("field", own) });',
    "return z.object(own);",
  ],
  "a connection may have any number of requests": [
    170,
    /all of \d+ requests/,
    traffic,
    "const mostOfConnection = 16;",
    "const mostOfConnection = 1e9;",
  ],
  "tables that are links to other folders are written to": [
    0,
    /outside the data folder/,
    "engine/folder/symbolic-links.ts",
    "if (folder === undefined) return;",
    "if (folder !== undefined) return;",
  ],
  "an update changes all rows": [
    0,
    /instead of/,
    rows,
    "updateRows(table, body.updates, body.predicate)",
    "updateRows(table, body.updates, undefined)",
  ],
  "rows are acknowledged and not written": [
    0,
    /instead of|was acknowledged/,
    rows,
    "version: await addRows(table, bytes, mode),",
    "version: isAppend ? await table.version() : await addRows(table, bytes, mode),",
  ],
}).map(([name, [near, shows, file, right, wrong]]) => ({ name, near, shows, changes: [{ file, right, wrong }] }));
