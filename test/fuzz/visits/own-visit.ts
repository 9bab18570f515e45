/** A client with a table of its own, which must hold exactly what was acknowledged. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Answer } from "../send.ts";
import { bodyOf, bytesOf, chunksOf, openConnection, type Connection, type Message } from "./connection.ts";
import { commit, drawRows, newTable, rowsStream, type OwnTable } from "./own-table.ts";
import { drawRefusal, numbers } from "./refusals.ts";
import {
  answerOn,
  ask,
  create,
  differenceOf,
  embeddedProblem,
  stateOf,
  versionsOf,
  wordsOf,
  type Scene,
} from "./scene.ts";
import { drawRead, drawStep, type Step } from "./steps.ts";

interface Visit extends Scene {
  readonly table: OwnTable;
  /** Kept over several requests. */
  connection: Connection;
}

export async function ownVisit(scene: Scene): Promise<void> {
  const { chance } = scene;
  const table = newTable(scene.name, chance);
  await create(scene, table);
  const visit: Visit = { ...scene, table, connection: openConnection(scene.port) };
  try {
    for (let turn = 4 + chance.below(8); turn > 0; turn--) await chance.pick(turns)(visit);
    await compare(visit, "at the end");
  } finally {
    visit.connection.destroy();
  }
}

async function compare(visit: Visit, when: string): Promise<void> {
  const difference = await differenceOf(visit, visit.table);
  // What follows would only repeat it.
  if (difference !== undefined) throw new Error(`${when}, the table differs: ${difference}`);
}

const turns: readonly ((visit: Visit) => Promise<void>)[] = [
  oneStep,
  oneStep,
  oneStep,
  pipelined,
  pipelined,
  refused,
  refused,
  refused,
  unknownNumber,
  cutOff,
  doubtfulStream,
  tooManyPipelined,
  twiceTheKey,
];

/** The same request in the ways of the two dialects and of other clients. */
function dressed({ chance }: Visit, message: Message): Message {
  const kind = chance.below(6);
  const more = message.path.includes("?") ? "&" : "?";
  if (kind === 0) return { ...message, path: `${message.path}${more}delimiter=%24` };
  if (kind === 1)
    return {
      ...message,
      headers: [
        ["__proto__", "x"],
        ["constructor", "y"],
        ["x-lancedb-database", "toString"],
      ],
    };
  if (kind === 2)
    return {
      ...message,
      headers: [
        ["user-agent", "OpenAPI-Generator/1"],
        ["accept", "*/*"],
      ],
    };
  return message;
}

async function oneStep(visit: Visit): Promise<void> {
  const { chance, table, connection } = visit;
  const step = drawStep(chance, table);
  const message = dressed(visit, step.message);
  const bytes = bytesOf(message, visit.apiKey);
  const kind = chance.below(8);
  if (kind === 0) {
    const chunks = chunksOf(bodyOf(message.body), () => 1 + chance.below(chance.pick([2, 40, 2_000])));
    connection.write(Buffer.concat([bytesOf(message, visit.apiKey, ["transfer-encoding: chunked"]), chunks]));
  } else if (kind === 1)
    for (let at = 0; at < bytes.length;) {
      const length = Math.ceil((chance.next() * bytes.length) / 2);
      connection.write(bytes.subarray(at, at + length));
      at += length;
      await sleep(chance.below(10));
    }
  else connection.write(bytes);
  const answer = await answerOn(visit, connection, wordsOf(message));
  check(step, answer);
  if (step.query !== undefined) {
    const problem = await embeddedProblem(visit, table.name, step.query, answer);
    if (problem !== undefined) throw new Error(`${wordsOf(message)}: other rows than embedded: ${problem}`);
  } else if (chance.happens(0.3)) await compare(visit, `after ${wordsOf(message)}`);
}

function check({ message, problem }: Step, answer: Answer): void {
  const text = answer.status === 200 ? problem?.(answer) : `${answer.status} ${answer.body.toString().slice(0, 300)}`;
  if (text !== undefined) throw new Error(`${wordsOf(message)}: ${text}`);
}

/** Several requests are sent before their answers are read, some of them to be refused. */
async function pipelined(visit: Visit): Promise<void> {
  const { chance, table, connection, apiKey } = visit;
  const count = 2 + chance.below(11);
  const steps: (Step | Message)[] = [];
  const parts: Buffer[] = [];
  for (let place = 0; place < count; place++) {
    const isRefused = chance.happens(0.15);
    const step = isRefused ? drawRefusal(chance, table) : drawStep(chance, table);
    const message = "message" in step ? dressed(visit, step.message) : step;
    steps.push(step);
    parts.push(bytesOf({ ...message, headers: [...(message.headers ?? []), ["x-request-id", `r-${place}`]] }, apiKey));
  }
  const unread = [...steps.entries()];
  const read = async () => {
    const [place, step] = unread.shift()!;
    const message = "message" in step ? step.message : step;
    const answer = await answerOn(visit, connection, wordsOf(message));
    const id = answer.headers["x-request-id"];
    if (id !== `r-${place}`) throw new Error(`${wordsOf(message)}: the answer is that of ${id}`);
    if ("message" in step) check(step, answer);
    else checkRefused(message, answer);
  };
  const isInterleaved = chance.happens(0.5);
  const bytes = isInterleaved ? parts : [Buffer.concat(parts)];
  for (const [place, part] of bytes.entries()) {
    const cut = chance.below(part.length);
    connection.write(part.subarray(0, cut));
    if (chance.happens(0.3)) await sleep(chance.below(4));
    connection.write(part.subarray(cut));
    if (isInterleaved && place > count - unread.length && chance.happens(0.3)) await read();
  }
  if (chance.happens(0.3)) {
    connection.socket.pause();
    await sleep(chance.below(20));
    connection.socket.resume();
  }
  while (unread.length > 0) await read();
  await compare(visit, `after ${count} pipelined requests`);
}

function checkRefused(message: Message, { status, body }: Answer): void {
  if ((status < 400 || status >= 500) && status !== 501)
    throw new Error(`${wordsOf(message)}: ${status} ${body.toString().slice(0, 300)}, and should be refused`);
}

async function refused(visit: Visit): Promise<void> {
  const message = drawRefusal(visit.chance, visit.table);
  const before = stateOf(visit, visit.table.name);
  checkRefused(message, await ask(visit, message));
  if (stateOf(visit, visit.table.name) !== before)
    throw new Error(`${wordsOf(message)}: was refused, and changed the table`);
}

/** A number at the limits of what programs count with. */
async function unknownNumber(visit: Visit): Promise<void> {
  const { chance, table } = visit;
  const text = chance.pick(numbers);
  const value = valueOf(text);
  const isWhole = typeof value === "number" && Number.isInteger(value);
  const isVersion = isWhole && value >= 1 && value <= table.version;
  const rows = table.content.rows.length;
  const [action, body, expected] = chance.pick<() => readonly [string, string, number | boolean | undefined]>([
    () => ["count_rows", `{"version":${text}}`, isVersion && table.history.get(value)!.rows.length],
    () => ["describe", `{"version":${text}}`, isVersion],
    () => ["restore", `{"version":${text}}`, isVersion],
    () => ["tags/create", `{"tag":"number","version":${text}}`, isVersion],
    () => ["query", `{"vector":[],"k":${text}}`, isWhole && value >= 0 && Math.min(value, rows)],
    () => [
      "query",
      `{"vector":[],"k":100000,"order_by":[{"column_name":"id"}],"offset":${text}}`,
      isWhole && value >= 0 && value < 2 ** 32 && Math.max(0, rows - value),
    ],
    ...["nprobes", "ef", "refine_factor", "minimum_nprobes"].map(
      (name) => () =>
        [
          "query",
          `{"vector":[],"k":5,"${name}":${text}}`,
          isWhole && value >= 0 && value < 2 ** 32 ? undefined : false,
        ] as const,
    ),
  ])();
  const message = { path: `/v1/table/${table.name}/${action}`, body };
  const before = stateOf(visit, table.name);
  const answer = await ask(visit, message);
  if (answer.status !== 200) {
    checkRefused(message, answer);
    if (expected !== false && expected !== undefined)
      throw new Error(`${wordsOf(message)}: ${answer.status} ${answer.body.toString()}`);
    if (stateOf(visit, table.name) !== before)
      throw new Error(`${wordsOf(message)}: was refused, and changed the table`);
    return;
  }
  if (expected === false)
    throw new Error(`${wordsOf(message)}: ${answer.body.toString().slice(0, 100)} for no such number`);
  const found =
    action === "query" ? await countIn(answer) : action === "count_rows" ? Number(answer.body.toString()) : expected;
  if (expected !== undefined && found !== expected)
    throw new Error(`${wordsOf(message)}: ${found} rows instead of ${expected}`);
  if (action === "restore") commit(table, table.history.get(value as number)!);
  if (action === "tags/create") {
    table.tags.set("number", value as number);
    await compare(visit, `after ${wordsOf(message)}`);
    check(
      { message, isDone: true },
      await ask(visit, { path: `/v1/table/${table.name}/tags/delete`, body: { tag: "number" } }),
    );
    table.tags.delete("number");
  }
}

async function countIn({ body }: Answer): Promise<number> {
  const { rowsInFile } = await import("../../../src/wire/arrow/ipc-file.ts");
  return rowsInFile(body);
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A request that does not arrive completely, or whose length is wrong, does nothing. */
async function cutOff(visit: Visit): Promise<void> {
  const { chance, table, apiKey } = visit;
  const message = {
    path: `/v1/table/${table.name}/${chance.pick(["delete", "delete", "insert?mode=overwrite"])}`,
    body: chance.happens(0.5)
      ? ({ predicate: "true" } as object)
      : rowsStream(table.content.columns, drawRows(chance, table, 3)),
  };
  const before = stateOf(visit, table.name);
  const connection = openConnection(visit.port);
  const body = bodyOf(message.body);
  const bytes = bytesOf(message, apiKey);
  const kind = chance.below(5);
  if (kind === 0) connection.write(bytes.subarray(0, chance.below(bytes.length - 1)));
  else if (kind === 1)
    connection.write(Buffer.concat([bytesOf(message, apiKey, [`content-length: ${1 + chance.below(15)}`]), body]));
  else if (kind === 2)
    connection.write(Buffer.concat([bytesOf(message, apiKey, [`content-length: ${body.length + 1}`]), body]));
  else if (kind === 3) {
    const chunks = chunksOf(body, () => 7);
    connection.write(bytesOf(message, apiKey, ["transfer-encoding: chunked"]));
    connection.write(chunks.subarray(0, chance.below(chunks.length - 5)));
  } else
    connection.write(
      Buffer.concat([bytesOf(message, apiKey, ["transfer-encoding: chunked", `content-length: ${body.length}`]), body]),
    );
  if (chance.happens(0.5)) await sleep(chance.below(10));
  connection.socket.end();
  const answer = await connection.next();
  visit.sent(typeof answer === "string" ? "no answer" : String(answer.status));
  if (typeof answer === "object") checkRefused(message, answer);
  connection.destroy();
  if (stateOf(visit, table.name) !== before) throw new Error(`${wordsOf(message)}, cut (${kind}): changed the table`);
}

/** What is not clear may be refused, or is added completely. */
async function doubtfulStream(visit: Visit): Promise<void> {
  const { chance, table } = visit;
  const form = chance.pick(["dictionary", "dictionaries", "none", "batches"] as const);
  const rows = drawRows(chance, table, 2 + chance.below(6));
  const whole = rowsStream(table.content.columns, rows, form);
  const isCut = chance.happens(0.4);
  const body = isCut ? whole.subarray(0, chance.below(whole.length)) : whole;
  const message = { path: `/v1/table/${table.name}/insert`, body };
  const before = stateOf(visit, table.name);
  const answer = await ask(visit, message);
  if (answer.status === 200) {
    const { num_inserted_rows: count } = JSON.parse(answer.body.toString()) as { readonly num_inserted_rows: number };
    const owed = form === "none" ? 0 : rows.length;
    if (!isCut && count !== owed) throw new Error(`${wordsOf(message)} (${form}): ${count} rows instead of ${owed}`);
    if (versionsOf(visit, table.name) > table.version)
      commit(table, { rows: [...table.content.rows, ...rows.slice(0, count)] });
    else if (count > 0) throw new Error(`${wordsOf(message)} (${form}): ${count} rows and no version`);
  } else {
    checkRefused(message, answer);
    if (stateOf(visit, table.name) !== before)
      throw new Error(`${wordsOf(message)} (${form}): was refused, and changed the table`);
  }
  await compare(visit, `after a stream (${form}${isCut ? ", cut" : ""})`);
}

/** More requests than a connection may have without an answer: it is closed, and what was answered is right. */
async function tooManyPipelined(visit: Visit): Promise<void> {
  const { chance, table, apiKey } = visit;
  // A rare one: the service may count thousands of requests of which most are refused.
  if (chance.happens(0.7)) return;
  const steps = Array.from({ length: 100 }, () => drawRead(chance, table));
  const connection = openConnection(visit.port);
  connection.write(Buffer.concat(steps.map(({ message }) => bytesOf(message, apiKey))));
  let answers = 0;
  for (let answer = await connection.next(); typeof answer === "object"; answer = await connection.next()) {
    visit.sent(String(answer.status));
    if (answer.status !== 503) check(steps[answers]!, answer);
    if (++answers === steps.length) throw new Error(`all of ${answers} requests without an answer were taken`);
  }
  connection.destroy();
}

/** Of a field that is given twice, one value counts, or the request is refused. */
async function twiceTheKey(visit: Visit): Promise<void> {
  const { table } = visit;
  const path = `/v1/table/${table.name}/delete`;
  const message = { path, body: `{"predicate":"id < 0","predicate":"id < -1"}` };
  const answer = await ask(visit, message);
  if (answer.status !== 200) return checkRefused(message, answer);
  // Neither deletes anything; the engine may make a version nevertheless.
  if (versionsOf(visit, table.name) > table.version) commit(table, {});
  await compare(visit, `after ${wordsOf(message)}`);
}
