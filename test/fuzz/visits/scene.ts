/** Where a visit takes place, and how what it has left in the data folder is compared with what it should have. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Connection as Engine } from "@lancedb/lancedb";
import type { Chance } from "../../simulate/seeded-random.ts";
import type { Answer } from "../send.ts";
import { bytesOf, openConnection, type Connection, type Message } from "./connection.ts";
import { comparable, rowsOfArrow, rowsStream, type OwnTable } from "./own-table.ts";
import type { EmbeddedQuery } from "./steps.ts";

export interface Scene {
  readonly port: number;
  readonly apiKey: string;
  readonly folder: string;
  /** The embedded client on the same folder. */
  readonly engine: Engine;
  readonly chance: Chance;
  /** Begins the names of tables that no other visit has. */
  readonly name: string;
  /** Called with the status of each answer. */
  readonly sent: (status: string) => void;
  readonly report: (problem: string) => void;
}

/** What leaves open whether a request was carried out, or states that it was not begun: the machine is busy. */
const isUnsure = (status: number) => [503, 520].includes(status);

/** The state of the table is unknown, so that the visit ends. */
export class Unsure extends Error {}

export async function answerOn(scene: Scene, connection: Connection, what: string): Promise<Answer> {
  const answer = await connection.next();
  scene.sent(typeof answer === "string" ? "no answer" : String(answer.status));
  if (typeof answer === "string") throw new Error(`${what}: ${answer}`);
  if (isUnsure(answer.status)) throw new Unsure(`${what}: ${answer.status}`);
  return answer;
}

/** Sends one request over a connection of its own. */
export async function ask(scene: Scene, message: Message): Promise<Answer> {
  const connection = openConnection(scene.port);
  try {
    connection.write(bytesOf(message, scene.apiKey));
    return await answerOn(scene, connection, wordsOf(message));
  } finally {
    connection.destroy();
  }
}

export async function create(scene: Scene, table: OwnTable): Promise<void> {
  const body = rowsStream(table.content.columns, table.content.rows);
  const answer = await ask(scene, { path: `/v1/table/${table.name}/create`, body });
  if (answer.status !== 200) throw new Error(`create: ${answer.status} ${answer.body.toString()}`);
}

export function wordsOf({ path, body }: Message): string {
  const shown = Buffer.isBuffer(body) ? `${body.length} bytes` : typeof body === "string" ? body : JSON.stringify(body);
  return `${path} ${shown.slice(0, 500)}`;
}

/** Changes with everything that a request can change about a table. */
export function stateOf({ folder }: Scene, table: string): string {
  const path = join(folder, `${table}.lance`);
  const list = (part: string) => (existsSync(join(path, part)) ? readdirSync(join(path, part)).toSorted() : []);
  const tags = list("_refs/tags").map((name) => [name, readFileSync(join(path, "_refs/tags", name), "utf8")]);
  return JSON.stringify([list("_versions"), tags, existsSync(join(folder, "renamed-by-fuzz.lance"))]);
}

export function versionsOf({ folder }: Scene, table: string): number {
  return readdirSync(join(folder, `${table}.lance`, "_versions")).filter((name) => name.endsWith(".manifest")).length;
}

/** What the embedded engine finds otherwise than the model. */
export async function differenceOf(scene: Scene, own: OwnTable): Promise<string | undefined> {
  const table = await scene.engine.openTable(own.name);
  try {
    const names = own.content.columns.map(({ name }) => name);
    const data = await table.query().toArrow();
    // Without rows, the client gives a table without columns.
    const { fields } = await table.schema();
    const found = [
      ["version", await table.version(), own.version],
      ["columns", fields.map(({ name }) => name), names],
      ["types", fields.map(({ type }) => String(type)), own.content.columns.map(({ type }) => arrowTypes[type])],
      ["rows", comparable(rowsOfArrow(data as never), names), comparable(own.content.rows, names)],
      ["indexes", (await table.listIndices()).map(({ name }) => name).toSorted(), [...own.content.indexes].toSorted()],
      [
        "tags",
        Object.entries(await (await table.tags()).list())
          .map(([tag, { version }]) => `${tag} ${version}`)
          .toSorted(),
        [...own.tags].map((tag) => tag.join(" ")).toSorted(),
      ],
    ] as const;
    const wrong = found.find(([, one, other]) => JSON.stringify(one) !== JSON.stringify(other));
    return wrong && `${wrong[0]}: ${shown(wrong[1])} instead of ${shown(wrong[2])}`;
  } finally {
    table.close();
  }
}

const arrowTypes = { int32: "Int32", int64: "Int64", string: "Utf8" };

function shown(value: unknown): string {
  return JSON.stringify(value).slice(0, 1_000);
}

/** Rows of the answer that the embedded engine does not give for the same query, or the other way round. */
export async function embeddedProblem(
  { engine }: Scene,
  name: string,
  { filter, columns, ordered, limit, offset }: EmbeddedQuery,
  answer: Answer,
): Promise<string | undefined> {
  const table = await engine.openTable(name);
  try {
    let query = table.query().limit(limit);
    if (filter !== undefined) query = query.where(filter);
    if (columns !== undefined) query = query.select([...columns]);
    if (ordered) query = query.orderBy({ columnName: "id", ascending: true, nullsFirst: false });
    if (offset > 0) query = query.offset(offset);
    const data = await query.toArrow();
    const names = data.schema.fields.map((field) => field.name);
    const [given, own] = [rowsOfArrow(answer.body), rowsOfArrow(data as never)].map((rows) => comparable(rows, names));
    // Without an order, a limit leaves open which rows.
    if (!ordered && own!.length === limit) return given!.length === limit ? undefined : `${given!.length} rows`;
    return JSON.stringify(given) === JSON.stringify(own) ? undefined : `${shown(given)}; the engine has ${shown(own)}`;
  } finally {
    table.close();
  }
}
