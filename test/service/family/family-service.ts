/**
 * A service of the three documented endpoints, as one reading of their document has it. The engine keeps its tables; the
 * markers of a ledger are mere names.
 */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { startService } from "../../../src/features/serve/start-service.ts";

export const apiKey = "a key of the family";

export interface Answer {
  readonly status: number;
  readonly body?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Entry {
  readonly name: string;
  readonly at: number;
}

export type Operation = "list" | "create" | "alter";

/** What is wrong with a request. */
export interface Failure {
  readonly kind: "taken" | "missing" | "refused" | "broken";
  readonly words: string;
}

export interface Alteration {
  readonly path: string;
  readonly rename?: string;
  readonly data_type?: unknown;
  readonly nullable?: boolean;
}

type Change = (alterations: readonly Alteration[]) => Promise<Failure | undefined>;

/** What happens to a request: it is cut off or answered otherwise, before or after the service has acted. */
export interface Fault {
  readonly acts: boolean;
  readonly answer: Answer | "cut";
}

/** In which points a service differs from a plain one. */
export interface Ways {
  /** The answer to a list of these tables. */
  readonly list?: (names: readonly string[], asked: URLSearchParams) => Answer;
  /** Which tables a list shows, and in which order. */
  readonly shown?: (all: readonly Entry[], turn: number) => readonly Entry[];
  readonly done?: (operation: Operation) => Answer;
  readonly failed?: (failure: Failure) => Answer;
  /** The name that a table gets; undefined if it is not allowed. */
  readonly named?: (name: string) => string | undefined;
  readonly taken?: "overwritten" | "kept";
  readonly alter?: (alterations: readonly Alteration[], change: Change) => Promise<Failure | undefined>;
  /** `turn` counts the requests of all clients. */
  readonly fault?: (turn: number, operation: Operation) => Fault | undefined;
}

const json = (status: number, value: unknown): Answer => ({ status, body: JSON.stringify(value) });
const statusOf = { taken: 409, missing: 404, refused: 400, broken: 500 } as const;

export const plain: Required<Omit<Ways, "taken">> = {
  list: (names) => json(200, { tables: names }),
  shown: (all) => all,
  done: () => json(200, {}),
  failed: ({ kind, words }) => json(statusOf[kind], { error: words }),
  named: (name) => name,
  alter: (alterations, change) => change(alterations),
  fault: () => undefined,
};

const isMarker = (name: string) => /\.e\d+(\.|$)/.test(name);

export interface Family extends AsyncDisposable {
  readonly url: string;
  /** How many requests each run has sent, by the header x-run. */
  readonly requests: ReadonlyMap<string, number>;
  /** What becomes of one request of a run; `dead`: nor is a later one of that run answered or obeyed. */
  strike?: {
    readonly run: string;
    readonly request: number;
    readonly acts: boolean;
    readonly dead: boolean;
    /** Called when that request has come, and been carried out if it acts. */
    readonly done: () => void;
  };
  /** The tables except those of the ledger. */
  tables(): readonly string[];
}

/** `data`: the folder of the tables. */
export async function startFamily(data: string, ways: Ways): Promise<Family> {
  const { list, shown, done, failed, named, alter, fault } = { ...plain, ...ways };
  const inner = await startService({ data, host: "127.0.0.1", port: 0, workers: 0, apiKey, log: () => {} });
  const entries = new Map<string, Entry>();
  const requests = new Map<string, number>();
  let turn = 0;
  let lists = 0;
  let isClosed = false;

  const send = async (path: string, type: string, body: Buffer | string): Promise<Failure | undefined> => {
    // What takes effect late finds nothing more.
    if (isClosed) return undefined;
    const headers = { "x-api-key": apiKey, "content-type": type };
    const answer = await fetch(inner.url + path, { method: "POST", headers, body: new Uint8Array(Buffer.from(body)) });
    const words = await answer.text();
    if (answer.ok) return undefined;
    const kind = words.includes("already exists") ? "taken" : words.includes("does not exist") ? "missing" : "refused";
    return { kind: answer.status < 500 ? kind : "broken", words: (JSON.parse(words) as { error: string }).error };
  };

  const create = async (given: string, type: string, body: Buffer): Promise<Failure | undefined> => {
    const name = named(given);
    if (name === undefined) return { kind: "refused", words: "Invalid table name" };
    if (entries.has(name)) {
      if (ways.taken === "kept") return undefined;
      if (ways.taken !== "overwritten") return { kind: "taken", words: `Table ${name} already exists` };
      if (!isMarker(name)) await send(`/v1/table/${encodeURIComponent(name)}/drop/`, "application/json", "{}");
    }
    // The name is taken while the table is made.
    entries.set(name, { name, at: Date.now() });
    const failure = isMarker(name) ? undefined : await send(`/v1/tables/${encodeURIComponent(name)}`, type, body);
    if (failure !== undefined) entries.delete(name);
    return failure;
  };

  const act = async (operation: Operation, name: string, request: IncomingMessage, body: Buffer): Promise<Answer> => {
    const { headers, url = "" } = request;
    if (operation === "list") {
      const asked = new URL(url, "http://family").searchParams;
      // The pages of a list have one order.
      if (!asked.has("page_token") && !asked.has("from")) lists++;
      const names = shown([...entries.values()], lists).map((entry) => entry.name);
      return list(names, asked);
    }
    const stored = named(name) ?? name;
    const change: Change = (alterations) =>
      send(
        `/v1/table/${encodeURIComponent(stored)}/alter_columns`,
        "application/json",
        JSON.stringify({ alterations }),
      );
    const failure =
      operation === "create"
        ? await create(name, headers["content-type"] ?? "", body)
        : await alter((JSON.parse(body.toString()) as { alterations: readonly Alteration[] }).alterations, change);
    return failure === undefined ? done(operation) : failed(failure);
  };

  const dead = new Set<string>();
  let lastStrike: Fault | undefined;
  const strikeAt = (run: string, request: number): Fault | undefined => {
    if (dead.has(run)) return { acts: false, answer: "cut" };
    const { strike } = family;
    if (strike?.run !== run || strike.request !== request) return undefined;
    if (strike.dead) dead.add(run);
    return (lastStrike = { acts: strike.acts, answer: "cut" });
  };

  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", async () => {
      const { method, url = "", headers } = incoming;
      const run = String(headers["x-run"]);
      const count = (requests.get(run) ?? 0) + 1;
      requests.set(run, count);
      const [, created, altered] = /^\/v1\/table(?:s\/([^/?]+)|\/([^/?]+)\/alter_columns)/.exec(url) ?? [];
      const operation = method === "GET" ? "list" : created === undefined ? "alter" : "create";
      const struck = strikeAt(run, count) ?? fault(++turn, operation);
      const name = decodeURIComponent(created ?? altered ?? "");
      const answered = struck?.acts === false ? undefined : await act(operation, name, incoming, Buffer.concat(chunks));
      const answer = struck?.answer ?? answered!;
      if (struck !== undefined && struck === lastStrike) family.strike!.done();
      if (answer === "cut") incoming.socket.destroy();
      else
        outgoing.writeHead(answer.status, { "content-type": "application/json", ...answer.headers }).end(answer.body);
    });
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const family: Family = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    tables: () => [...entries.keys()].filter((name) => !/^_migrations\.|check/i.test(name)),
    async [Symbol.asyncDispose]() {
      isClosed = true;
      server.closeAllConnections();
      server.close();
      await inner.close();
    },
  };
  return family;
}
