/** Readings of the document: what a service may do of which it says nothing, or nothing certain. */
import type { Alteration, Answer, Entry, Failure, Ways } from "./family-service.ts";

export interface Reading {
  /** Readings of different parts can be combined. */
  readonly part: "lists" | "order and age" | "answers" | "errors" | "names" | "creates" | "alterations" | "faults";
  /** What the service does, as text. */
  readonly text: string;
  /** Whether migrations run there; otherwise nothing is changed. */
  readonly works: boolean;
  readonly ways: Ways;
}

const json = (status: number, value: unknown, headers = {}): Answer => ({
  status,
  body: JSON.stringify(value),
  headers,
});

/** Pages of five; `found` gives the answer for a page and the number of the next one. */
const paged =
  (key: string, found: (names: readonly string[], next: number | undefined) => Answer): Ways["list"] =>
  (names, asked) => {
    const from = Number(asked.get(key) ?? 0);
    return found(names.slice(from, from + 5), from + 5 < names.length ? from + 5 : undefined);
  };

const lists: readonly (readonly [string, boolean, Ways["list"]])[] = [
  ["is an array of names", true, (names) => json(200, names)],
  ["is `{tables: […]}` with names", true, (names) => json(200, { tables: names })],
  [
    "is an array of objects with `name`",
    true,
    (names) =>
      json(
        200,
        names.map((name) => ({ name, rows: 1 })),
      ),
  ],
  [
    "is `{tables: […]}` of objects with `table`",
    true,
    (names) => json(200, { tables: names.map((table) => ({ table })) }),
  ],
  ["states its total", true, (names) => json(200, { tables: names, total: names.length, has_more: false })],
  [
    "has pages with `page_token`",
    true,
    paged("page_token", (tables, next) => json(200, { tables, page_token: next && `${next}` })),
  ],
  [
    "has pages with `next_page_token` as a number",
    true,
    paged("page_token", (tables, next_page_token) => json(200, { tables, next_page_token })),
  ],
  [
    "has pages with a `Link` header",
    true,
    paged("from", (tables, next) =>
      json(200, tables, next === undefined ? {} : { link: `</v1/tables?from=${next}>; rel="next"` }),
    ),
  ],
  [
    "repeats some names on the next page",
    true,
    (names, asked) => {
      const from = Number(asked.get("page_token") ?? 0);
      const page_token = from + 5 < names.length ? String(from + 3) : null;
      return json(200, { tables: names.slice(from, from + 5), page_token });
    },
  ],
  [
    "is cut and reports `has_more`",
    false,
    (names) => json(200, { tables: names.slice(0, 2), has_more: names.length > 2 }),
  ],
  [
    "is cut and states a larger `total`",
    false,
    (names) => json(200, { tables: names.slice(0, 2), total: names.length }),
  ],
  [
    "is cut and has a `next_cursor`",
    false,
    (names) => json(200, { tables: names.slice(0, 2), ...(names.length > 2 && { next_cursor: "x" }) }),
  ],
  ["is cut silently", false, (names) => json(200, { tables: names.slice(0, 1) })],
  ["has pages that never end", false, (names) => json(200, { tables: names, page_token: "again" })],
  ["is under a name of its own", false, (names) => json(200, { data: names })],
  [
    "has its names encoded",
    false,
    (names) =>
      json(
        200,
        names.map((name) => name.replaceAll("_", "%5F")),
      ),
  ],
];

const byName = (one: Entry, other: Entry) => (one.name < other.name ? -1 : 1);
const shown: readonly (readonly [string, boolean, Ways["shown"]])[] = [
  ["is sorted by name", true, (all) => all.toSorted(byName)],
  ["shows the newest first", true, (all) => all.toReversed()],
  [
    "is in another order each time",
    true,
    (all, turn) => all.toSorted((one, other) => byName(one, other) * (turn % 2 === 0 ? 1 : -1)),
  ],
  ["shows a new table after a second", false, (all) => all.filter(({ at }) => Date.now() - at > 1_000)],
  ["shows nothing of the last minutes", false, (all) => all.slice(0, 1)],
];

const answers: readonly (readonly [string, boolean, Answer])[] = [
  ["is `{}`", true, json(200, {})],
  ["is empty", true, { status: 200, body: "" }],
  ["is 204", true, { status: 204 }],
  ["is 201 with a version", true, json(201, { version: 7 })],
  ['is `{"status":"ok"}`', true, json(200, { status: "ok", error: null })],
  ["is text", false, { status: 200, body: "OK", headers: { "content-type": "text/plain" } }],
  ["is 202", true, json(202, {})],
];

const failing =
  (some: Partial<Record<Failure["kind"], number>>, body?: (words: string) => string): Ways["failed"] =>
  ({ kind, words }) => {
    const status = some[kind] ?? { taken: 409, missing: 404, refused: 400, broken: 500 }[kind];
    return { status, body: body?.(words) ?? JSON.stringify({ error: words }) };
  };
const errors: readonly (readonly [string, boolean, Ways["failed"]])[] = [
  ["are 400 each", true, failing({ taken: 400, missing: 400 })],
  ["are 422 each", true, failing({ taken: 422, missing: 422, refused: 422 })],
  ["have a body of HTML", true, failing({}, (words) => `<html><body>${words}</body></html>`)],
  ["have no body", true, failing({}, () => "")],
  ["have a nested message", true, failing({}, (message) => JSON.stringify({ error: { message } }))],
  ["are 403 for a table that exists", true, failing({ taken: 403 })],
  ["are 500 for a table that exists", true, failing({ taken: 500 })],
  ["are 500 for a column that is missing", false, failing({ missing: 500 })],
  ["are 403 for a column that is missing", false, failing({ missing: 403 })],
  ["are 500 for all that is refused", false, failing({ taken: 500, missing: 500, refused: 500 })],
  ['are `{"status":"error"}` with 200', false, ({ words }) => json(200, { status: "error", message: words })],
  ["are `{}` with 200", false, () => json(200, {})],
];

const names: readonly (readonly [string, boolean, Ways["named"]])[] = [
  ["may have 255 characters", true, (name) => (name.length > 255 ? undefined : name)],
  ["may have 249 characters", true, (name) => (name.length > 249 ? undefined : name)],
  ["may have 128 characters", false, (name) => (name.length > 128 ? undefined : name)],
  ["may have 63 characters", false, (name) => (name.length > 63 ? undefined : name)],
  ["are cut after 128 characters", false, (name) => name.slice(0, 128)],
  ["are folded to lower case", false, (name) => name.toLowerCase()],
  ["are folded to upper case", false, (name) => name.toUpperCase()],
  ["may not have capital letters", false, (name) => (/[A-Z]/.test(name) ? undefined : name)],
  ["may not have dots", false, (name) => (name.includes(".") ? undefined : name)],
  ["may not begin with an underscore", false, (name) => (name.startsWith("_") ? undefined : name)],
  ["have other characters replaced", false, (name) => name.replaceAll(/[^A-Za-z0-9_]/g, "_")],
];

const creates: readonly (readonly [string, Ways["taken"]])[] = [
  ["overwrites a table of the same name", "overwritten"],
  ["leaves a table of the same name as it is, and reports success", "kept"],
];

const broken: Failure = { kind: "broken", words: "internal error" };
/** One after the other; `end` is the answer if there are more than one. */
const inTurn =
  (order: (all: readonly Alteration[]) => readonly Alteration[], end?: Failure): Ways["alter"] =>
  async (alterations, change) => {
    for (const one of order(alterations)) {
      const failure = await change([one]);
      if (failure !== undefined) return failure;
      if (end !== undefined && alterations.length > 1) return end;
    }
    return undefined;
  };
/** As if parts of each alteration were not there. */
const ignoring =
  (...parts: readonly (keyof Alteration)[]): Ways["alter"] =>
  async (alterations, change) => {
    const left = alterations.map((one) =>
      Object.fromEntries(Object.entries(one).filter(([key]) => !parts.includes(key as keyof Alteration))),
    );
    const some = left.filter((one) => Object.keys(one).length > 1);
    return some.length === 0 ? undefined : await change(some as unknown as readonly Alteration[]);
  };
type Part = "rename" | "data_type" | "nullable";
const partsOf = (one: Alteration) =>
  (["rename", "data_type", "nullable"] as const).filter((part) => one[part] !== undefined);
const onlyPart = ({ path, ...parts }: Alteration, part: Part): Alteration => ({ path, [part]: parts[part] });
/** Of an alteration with several parts, only this one if it is there. */
const keeping =
  (part: Part): Ways["alter"] =>
  (alterations, change) =>
    change(alterations.map((one) => (one[part] === undefined ? one : onlyPart(one, part))));
/** Ends after the first part of an alteration with several. */
const endingAfterFirst: Ways["alter"] = async ([one], change) => {
  const [first, ...others] = partsOf(one!);
  const failure = first && (await change([onlyPart(one!, first)]));
  return failure ?? (others.length > 0 ? broken : undefined);
};
const refusing =
  (which: (one: Alteration) => boolean, words: string): Ways["alter"] =>
  async (alterations, change) =>
    alterations.some(which) ? { kind: "refused", words } : await change(alterations);
const seen = new Set<string>();
const alterations: readonly (readonly [string, boolean, Ways["alter"]])[] = [
  ["are applied in order", true, inTurn((all) => all)],
  ["are applied from the last to the first", true, inTurn((all) => all.toReversed())],
  ["end with 500 after the first of several", true, inTurn((all) => all, broken)],
  [
    "end with 400 after the first of several",
    true,
    inTurn((all) => all, { kind: "refused", words: "one of them is wrong" }),
  ],
  ["end with 500 after the last of several", true, inTurn((all) => all.toReversed(), broken)],
  [
    "are refused if there are several",
    true,
    async (all, change) => (all.length > 1 ? { kind: "refused", words: "one alteration only" } : await change(all)),
  ],
  ["ignore all but the first", true, (all, change) => change(all.slice(0, 1))],
  ["ignore all of one but its rename", true, keeping("rename")],
  ["ignore all of one but its type", true, keeping("data_type")],
  ["ignore all of one but its nullability", true, keeping("nullable")],
  ["end with 500 after the first part of one", true, endingAfterFirst],
  ["ignore `nullable`", false, ignoring("nullable")],
  ["ignore `data_type`", false, ignoring("data_type")],
  ["ignore `rename`", false, ignoring("rename")],
  ["are all ignored", false, async () => undefined],
  [
    "ignore a column that is missing",
    false,
    async (all, change) => {
      const failure = await change(all);
      return failure?.kind === "missing" ? undefined : failure;
    },
  ],
  [
    "refuse a rename to the same name",
    false,
    refusing(({ path, rename }) => path.split(".").at(-1) === rename, "it has that name"),
  ],
  ["refuse nested paths", false, refusing(({ path }) => path.includes("."), "no nested paths")],
  ["refuse `nullable`", false, refusing(({ nullable }) => nullable !== undefined, "not supported")],
  [
    "refuse what they have done before",
    false,
    async (all, change) => {
      const text = JSON.stringify(all);
      if (seen.has(text)) return { kind: "refused", words: "done already" };
      seen.add(text);
      return await change(all);
    },
  ],
  [
    "know types by Arrow's names only",
    false,
    refusing(({ data_type }) => JSON.stringify(data_type ?? "").includes("string"), "unknown type"),
  ],
  [
    "take effect after half a second",
    false,
    async (all, change) => {
      setTimeout(() => void change(all), 500).unref();
      return undefined;
    },
  ],
];

const each =
  (turns: number, fault: NonNullable<Ways["fault"]>): Ways["fault"] =>
  (turn, operation) =>
    turn % turns === 0 ? fault(turn, operation) : undefined;
const faults: readonly (readonly [string, boolean, Ways["fault"]])[] = [
  [
    "answers each fifth request with 429",
    true,
    each(5, () => ({ acts: false, answer: json(429, {}, { "retry-after": "0" }) })),
  ],
  [
    "answers each seventh request with 503 and does not act",
    true,
    each(7, () => ({ acts: false, answer: json(503, { error: "busy" }) })),
  ],
  [
    "acts on each seventh request and answers 500",
    true,
    each(7, (_, operation) =>
      operation === "list" ? undefined : { acts: true, answer: json(500, { error: "late" }) },
    ),
  ],
  ["acts on each ninth request and answers 502", true, each(9, () => ({ acts: true, answer: json(502, {}) }))],
  ["cuts each eighth connection before it acts", true, each(8, () => ({ acts: false, answer: "cut" }))],
  ["cuts each eighth connection after it has acted", true, each(8, () => ({ acts: true, answer: "cut" }))],
  [
    "answers each list with 503",
    false,
    (_, operation) => (operation === "list" ? { acts: false, answer: json(503, {}) } : undefined),
  ],
  [
    "answers each alteration with 500",
    false,
    (_, operation) => (operation === "alter" ? { acts: true, answer: json(500, {}) } : undefined),
  ],
];

const of = <Given>(
  part: Reading["part"],
  words: string,
  all: readonly (readonly [string, boolean, Given])[],
  ways: (given: Given) => Ways,
): readonly Reading[] =>
  all.map(([text, works, given]) => ({ part, text: `${words}${text}`, works, ways: ways(given) }));

export const readings: readonly Reading[] = [
  ...of("lists", "the list ", lists, (list) => ({ list: list! })),
  ...of("order and age", "the list ", shown, (way) => ({ shown: way! })),
  ...of("answers", "the answer of a success ", answers, (answer) => ({ done: () => answer })),
  ...of("errors", "errors ", errors, (failed) => ({ failed: failed! })),
  ...of("names", "names ", names, (named) => ({ named: named! })),
  ...of(
    "creates",
    "a create ",
    creates.map(([text, taken]) => [text, false, taken] as const),
    (taken) => ({ taken: taken! }),
  ),
  ...of("alterations", "alterations ", alterations, (alter) => ({ alter: alter! })),
  ...of("faults", "the service ", faults, (fault) => ({ fault: fault! })),
];
