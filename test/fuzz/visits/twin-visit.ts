/** Text that looks like an error, or like a name of JavaScript, does what any text of its form does. */
import { ask, create, versionsOf, wordsOf, type Scene } from "./scene.ts";
import type { Message } from "./connection.ts";
import { newTable, quoted, rowsStream, type OwnTable } from "./own-table.ts";

/** What each means to a program that decides by texts: every kind is drawn as often. */
const hostile: readonly (readonly string[])[] = [
  [
    "Commit conflict for version 7",
    "Retryable commit conflict for version 7: preempted by",
    "Too many concurrent writers",
    "Incompatible transaction",
  ],
  ["Table x already exists", "already exists", "tag x already exists"],
  [
    "Table 'x' was not found",
    "tag x does not exist",
    "version 7 does not exist",
    "Version not found error: version 9 does not exist",
    "Column x does not exist",
    "No field named x",
    "index not found",
    "Index not found",
    "Not found: x",
  ],
  [
    "No space left on device (os error 28)",
    "No space left on device",
    "ENOSPC: no space left on device, write",
    "Permission denied (os error 13)",
    "LanceError(IO): disk",
    "Object at location",
  ],
  [
    "thread panicked at unwrap() unreachable",
    "Fragment 3 does not contain any data",
    "Invalid user input: x",
    "the process ended",
    "Worker is terminated",
    "FST_ERR_CTP_BODY_TOO_LARGE",
  ],
  ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf", "__defineSetter__", "isPrototypeOf"],
];

/** Of the same form, letter by letter, and without a meaning. */
function neutralOf(word: string): string {
  return word.replace(/[a-z]/gi, (letter) => {
    const first = letter >= "a" ? 97 : 65;
    return String.fromCharCode(first + ((letter.charCodeAt(0) - first + 13) % 26));
  });
}

type Place = (word: string) => { readonly action: string; readonly body: Message["body"] };

/** Where a text may stand. Each is sent to both tables, so that these stay alike. */
const places: readonly Place[] = [
  (word) => ({ action: "count_rows", body: { predicate: `title = ${quoted(word)}` } }),
  (word) => ({ action: "count_rows", body: { predicate: `nofunc(${quoted(word)})` } }),
  (word) => ({ action: "count_rows", body: { predicate: `CAST(${quoted(word)} AS INT) = 1` } }),
  (word) => ({ action: "count_rows", body: { predicate: `to_timestamp(${quoted(word)}) IS NULL` } }),
  (word) => ({ action: "count_rows", body: { predicate: `arrow_cast(id, ${quoted(word)}) = 1` } }),
  (word) => ({ action: "count_rows", body: { predicate: `\`${word}\` = 1` } }),
  (word) => ({ action: "count_rows", body: { predicate: `"${word}" = 1` } }),
  (word) => ({ action: "count_rows", body: { predicate: `id = ${quoted(word)}` } }),
  (word) => ({ action: "count_rows", body: { predicate: `title = '${word.replaceAll("'", "")}` } }),
  (word) => ({ action: "count_rows", body: { predicate: `"title" ~ ${quoted(`(${word}`)}` } }),
  (word) => ({ action: "count_rows", body: { tag: word } }),
  (word) => ({ action: "count_rows", body: { predicate: "true", [word]: 1 } }),
  (word) => ({ action: "count_rows", body: word }),
  (word) => ({ action: "count_rows", body: { predicate: { [word]: 1 } } }),
  (word) => ({ action: "delete", body: { predicate: `title = ${quoted(word)}` } }),
  (word) => ({ action: "delete", body: { predicate: `CAST(concat(title, ${quoted(word)}) AS INT) = 1` } }),
  (word) => ({ action: "update", body: { predicate: "id = 1", updates: [["title", quoted(word)]] } }),
  (word) => ({ action: "update", body: { predicate: "id = 1", updates: [["n", quoted(word)]] } }),
  (word) => ({
    action: "update",
    body: { predicate: "id = 1", updates: [["n", `CAST(concat(title, ${quoted(word)}) AS INT)`]] },
  }),
  (word) => ({ action: "update", body: { updates: [[word, "1"]] } }),
  (word) => ({ action: "query", body: { vector: [], k: 3, filter: `title = ${quoted(word)}` } }),
  (word) => ({ action: "query", body: { vector: [], k: 3, columns: [word] } }),
  (word) => ({ action: "query", body: { vector: [], k: 3, columns: { [`${word} x`]: "id" } } }),
  (word) => ({ action: "query", body: { vector: [], k: 3, columns: { x: quoted(word) } } }),
  (word) => ({
    action: "query",
    body: { vector: [], k: 3, columns: { x: `CAST(concat(title, ${quoted(word)}) AS INT)` } },
  }),
  (word) => ({ action: "query", body: { vector: [], k: 3, order_by: [{ column_name: word }] } }),
  (word) => ({ action: "query", body: { vector: [], k: 3, full_text_query: { query: word } } }),
  (word) => ({ action: "query", body: { vector: [], k: 3, full_text_query: { query: "a", columns: [word] } } }),
  (word) => ({
    action: "query",
    body: { vector: [], k: 3, full_text_query: { query: { match: { terms: "a", column: word } } } },
  }),
  (word) => ({ action: "query", body: { vector: [], k: 3, full_text_query: { query: { [word]: {} } } } }),
  (word) => ({ action: "query", body: { vector: [], k: 3, vector_column: word, distance_type: word } }),
  (word) => ({ action: "query", body: { vector: [1, 2], k: 3, vector_column: word } }),
  (word) => ({ action: "query", body: { vector: [1, 2], k: 3, distance_type: word } }),
  (word) => ({ action: "alter_columns", body: { alterations: [{ path: word, rename: "x" }] } }),
  (word) => ({
    action: "alter_columns",
    body: {
      alterations: [
        { path: "n", rename: word },
        { path: "missing", rename: "m" },
      ],
    },
  }),
  (word) => ({ action: "alter_columns", body: { alterations: [{ path: "n", data_type: { type: word } }] } }),
  (word) => ({
    action: "add_columns",
    body: { new_columns: [{ name: "fresh", expression: `nofunc(${quoted(word)})` }] },
  }),
  (word) => ({
    action: "add_columns",
    body: { new_columns: [{ name: "fresh", expression: `CAST(${quoted(word)} AS INT)` }] },
  }),
  (word) => ({ action: "add_columns", body: { new_columns: [{ name: word, expression: "nofunc()" }] } }),
  (word) => ({ action: "add_columns", body: { new_columns: [{ name: word, expression: "1" }] } }),
  (word) => ({ action: "drop_columns", body: { columns: [word] } }),
  (word) => ({ action: "update_field_metadata", body: { updates: [{ path: "n", metadata: { k: word } }] } }),
  (word) => ({ action: "update_field_metadata", body: { updates: [{ path: word, metadata: { k: "v" } }] } }),
  (word) => ({ action: "tags/create", body: { tag: word, version: 1 } }),
  (word) => ({ action: "tags/create", body: { tag: word, version: 999 } }),
  (word) => ({ action: "tags/update", body: { tag: word, version: 1 } }),
  (word) => ({ action: "tags/version", body: { tag: word } }),
  (word) => ({ action: "tags/delete", body: { tag: word } }),
  (word) => ({ action: "describe", body: { tag: word } }),
  (word) => ({ action: "create_index", body: { column: word, index_type: "BTREE" } }),
  (word) => ({ action: "create_index", body: { column: "id", index_type: word } }),
  (word) => ({ action: "create_index", body: { column: "id", index_type: "BTREE", name: word } }),
  (word) => ({ action: "create_index", body: { column: "title", index_type: "FTS", language: word } }),
  (word) => ({ action: "create_index", body: { column: "title", index_type: "FTS", base_tokenizer: word } }),
  (word) => ({ action: "create_index", body: { column: "title", index_type: "FTS", [word]: 1 } }),
  (word) => ({ action: `index/${encodeURIComponent(word)}/stats`, body: {} }),
  (word) => ({ action: `index/${encodeURIComponent(word)}/drop`, body: {} }),
  (word) => ({ action: `index/${encodeURIComponent(word)}/prewarm`, body: {} }),
  (word) => ({ action: "rename", body: { new_table_name: `${word} x` } }),
  (word) => ({ action: encodeURIComponent(word), body: {} }),
  (word) => ({ action: `version/list?page_token=${encodeURIComponent(word)}`, body: {} }),
  (word) => ({ action: `insert?mode=${encodeURIComponent(word)}`, body: oneRow(word) }),
  (word) => ({ action: `insert?${encodeURIComponent(word)}=append`, body: oneRow(word) }),
  (word) => ({ action: "insert", body: oneRow(word) }),
  (word) => ({ action: "insert", body: strangeColumn(word) }),
  (word) => ({ action: `create?mode=${encodeURIComponent(word)}`, body: oneRow(word) }),
  (word) => ({ action: `create?mode=create`, body: strangeColumn(word) }),
  (word) => ({
    action: `merge_insert?on=${encodeURIComponent(word)}&when_matched_update_all=true&when_not_matched_insert_all=true`,
    body: oneRow(word),
  }),
  (word) => ({
    action: `merge_insert?on=id&when_matched_update_all=true&when_matched_update_all_filt=${encodeURIComponent(`nofunc(${quoted(word)})`)}`,
    body: oneRow(word),
  }),
  (word) => ({
    action: `merge_insert?on=id&when_matched_update_all=true&when_matched_update_all_filt=${encodeURIComponent(`CAST(concat(target.title, ${quoted(word)}) AS INT) = 1`)}`,
    body: oneRow(word),
  }),
  (word) => ({ action: "merge_insert?on=id&when_not_matched_insert_all=true", body: strangeColumn(word) }),
  (word) => ({ action: "explain_plan", body: { query: { vector: [], k: 1, filter: `nofunc(${quoted(word)})` } } }),
];

const columns = [
  { name: "id", type: "int32" },
  { name: "title", type: "string" },
  { name: "n", type: "int32" },
] as const;

const oneRow = (word: string) => rowsStream(columns, [{ id: 1, title: word, n: null }]);
const strangeColumn = (word: string) =>
  rowsStream([columns[0], { name: word, type: "string" }], [{ id: 1, [word]: word }]);

/** Where the engine fails at SQL: its error repeats what stands there. */
const echoing = places.filter((place) => /CAST|nofunc|to_timestamp|arrow_cast/.test(JSON.stringify(place("x"))));

export async function twinVisit(scene: Scene): Promise<void> {
  const { chance } = scene;
  const one = newTable(`${scene.name}-one`, chance);
  const other: OwnTable = { ...one, name: `${scene.name}-two` };
  await create(scene, one);
  await create(scene, other);
  for (let turn = 6 + chance.below(8); turn > 0; turn--) {
    const place = chance.pick(chance.happens(0.3) ? echoing : places);
    const word = chance.pick(chance.pick(hostile));
    const [hostileKind, neutralKind] = [
      await kindOf(scene, one, place(word)),
      await kindOf(scene, other, place(neutralOf(word))),
    ];
    const message = { path: place(word).action, body: place(word).body };
    if (hostileKind.kind !== neutralKind.kind)
      throw new Error(`${wordsOf(message)}: ${hostileKind.text}, and with ${neutralOf(word)}: ${neutralKind.text}`);
    if (versionsOf(scene, one.name) !== versionsOf(scene, other.name))
      throw new Error(`${wordsOf(message)}: has made a version of one table only`);
  }
}

/** Status and code, and the text for a person. */
async function kindOf(scene: Scene, { name }: OwnTable, { action, body }: ReturnType<Place>) {
  const answer = await ask(scene, { path: `/v1/table/${name}/${action}`, body });
  const text = `${answer.status} ${answer.body.toString().slice(0, 250)}`;
  const code = answer.status === 200 ? 0 : (JSON.parse(answer.body.toString()) as { readonly code: number }).code;
  return { kind: `${answer.status} ${code}`, text };
}
