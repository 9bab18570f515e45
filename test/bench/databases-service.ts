/**
 * The documented table service for many databases, in memory and as fast as Node answers, so that what a client adds is
 * seen. As a process: takes the milliseconds that each answer takes, prints its port. `POST /reset` forgets everything, `GET /first` gives the requests of the database d0.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly type: string;
  /** In base64. */
  readonly body: string;
}

const latency = Number(process.argv[2] ?? 0);
/** By database and name of the table, the columns that were renamed. */
const tables = new Map<string, Map<string, Set<string>>>();
let first: SentRequest[] = [];

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const { method = "", url: path = "", headers } = request;
    const send = (status: number, body: unknown) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    };
    const answer = (status: number, body: unknown) => {
      if (latency === 0) send(status, body);
      else setTimeout(send, latency, status, body);
    };
    if (path === "/reset") {
      tables.clear();
      first = [];
      return answer(200, {});
    }
    if (path === "/first") return answer(200, first);
    const database = String(headers["x-service-database"]);
    const known = tables.get(database) ?? new Map<string, Set<string>>();
    tables.set(database, known);
    if (database === "d0") {
      const body = Buffer.concat(chunks).toString("base64");
      first.push({ method, path, type: String(headers["content-type"]), body });
    }
    if (method === "GET") return answer(200, { tables: [...known.keys()] });
    const [, , , name = "", verb] = path.split("/").map(decodeURIComponent);
    if (verb === "alter_columns")
      return answer(alterStatus(known, name, Buffer.concat(chunks).toString()), { version: 2 });
    if (known.has(name)) return answer(409, { error: `table ${name} exists` });
    known.set(name, new Set());
    return answer(200, { table: name, version: 1 });
  });
});

/** Changes of the table that a first run makes to find out what the service refuses (src/run/check/check-target.ts). */
const refused: ReadonlySet<string> = new Set([
  `{"path":"headline","data_type":{"type":"int64"}}`,
  `{"path":"id","data_type":{"type":"int32"}}`,
  `{"path":"headline","nullable":false}`,
]);

/** Of columns, only those that are there no more are known: those that were renamed. */
function alterStatus(known: Map<string, Set<string>>, table: string, body: string): number {
  const renamed = known.get(table);
  if (renamed === undefined) return 404;
  const { alterations } = JSON.parse(body) as { readonly alterations: readonly { path: string; rename?: string }[] };
  for (const { path, rename, ...others } of alterations) {
    if (renamed.has(path) || refused.has(JSON.stringify({ path, ...others }))) return 400;
    if (rename !== undefined && rename !== path) renamed.add(path);
  }
  return 200;
}

server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port));
