/** Performs drawn queries with LanceDB's clients, embedded and through the service, and compares the answers. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { officialPackages } from "../clients/client.ts";
import { startService } from "../../src/features/serve/start-service.ts";
import { clientFor } from "./ask.ts";
import { drawQuery, type Versions } from "./draw.ts";
import { judge, type Verdict } from "./judge.ts";
import { startPython } from "./python-client.ts";
import type { Ask, Query, Text } from "./query.ts";
import { makeTables } from "./tables.ts";

export interface QueryOptions {
  readonly seed: number;
  readonly queries: number;
  /** The number of the first query: one can be performed again alone. */
  readonly first?: number;
  readonly workers?: number;
  /** Differences after which no further query is performed. */
  readonly most?: number;
  /** Whether the client for Python performs the queries too, which must be installed. */
  readonly python: boolean;
  /** Called with each difference, and now and then. */
  readonly tell?: (line: string) => void;
}

export interface QueryReport {
  /** How many comparisons of two answers had which result. */
  readonly counts: ReadonlyMap<string, number>;
  readonly differences: readonly string[];
}

interface Client {
  readonly name: string;
  readonly embedded: Ask;
  readonly served: Ask;
  /** The engine in the packages for Python measures distances of half precision by other instructions of the processor. */
  readonly hasSameBuild: boolean;
}

/** The client for Python with the service's engine: another one measures and orders a little differently. */
const sameEngine = ["lancedb==0.39.0"] as const;

const apiKey = "the-key-of-drawn-queries-4711";

export async function compareQueries(options: QueryOptions): Promise<QueryReport> {
  const folder = mkdtempSync(join(tmpdir(), "lance-migrate-queries-"));
  const closing: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })];
  try {
    const versions = await makeTables(folder, options.seed);
    const { workers = 2 } = options;
    const service = await startService({ data: folder, host: "127.0.0.1", port: 0, apiKey, workers, log: () => {} });
    closing.unshift(() => service.close());
    const retryConfig = { retries: 0, connectRetries: 0, readRetries: 0 };
    const remote = { apiKey, hostOverride: service.url, clientConfig: { retryConfig } };
    const [here, there] = [clientFor(folder, {}), clientFor("db://x", remote)];
    const clients: Client[] = [{ name: "JavaScript", embedded: here, served: there, hasSameBuild: true }];
    if (options.python) {
      const start = (packages: readonly string[]) => {
        const python = startPython(packages, folder, service.url, apiKey);
        closing.unshift(() => python.stop());
        return python;
      };
      const [ofEngine, served, newest] = [sameEngine, sameEngine, officialPackages].map(start);
      const embedded: Ask = (query) => ofEngine!.ask("folder", query);
      for (const [name, client] of [[sameEngine[0], served!] as const, [officialPackages[0]!, newest!] as const])
        clients.push({ name, embedded, served: (query) => client.ask("service", query), hasSameBuild: false });
    }
    return await compareAll(options, versions, clients);
  } finally {
    for (const close of closing) await close();
  }
}

async function compareAll(
  { seed, queries, first = 0, most = Infinity, tell = () => {} }: QueryOptions,
  versions: Versions,
  clients: readonly Client[],
): Promise<QueryReport> {
  const counts = new Map<string, number>();
  const differences: string[] = [];
  for (let number = first; number < first + queries && differences.length < most; number++) {
    const query = drawQuery(seed, number, versions);
    const fit = clients.filter(({ hasSameBuild }) => hasSameBuild || query.nearest?.column !== "half");
    const verdicts = await Promise.all(fit.map(async (client) => [client, await verdictOf(client, query)] as const));
    for (const [{ name }, verdict] of verdicts) {
      const isRefused = verdict.kind === "refused" || verdict.kind === "refused by both";
      const key = `${name}: ${verdict.kind}${isRefused ? `, ${verdict.reason}` : ""}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
      if (verdict.kind !== "different") continue;
      const line = `query ${number}, ${name}: ${verdict.reason.slice(0, 1_200)}\n    ${JSON.stringify(query)}`;
      differences.push(line);
      tell(line);
    }
    if ((number + 1 - first) % 500 === 0) tell(`${number + 1 - first} queries`);
  }
  return { counts, differences };
}

async function verdictOf({ embedded, served }: Client, query: Query): Promise<Verdict> {
  const sent = asSent(query);
  const [here, there] = await Promise.all([embedded(sent), served(query)]);
  return await judge(sent, here, there, embedded);
}

/**
 * What is left of the query on its way to a service: LanceDB's clients drop the operator of a search in several columns, and
 * sort expressions by their names (docs/service.md).
 */
function asSent({ text, expressions, ...query }: Query): Query {
  return {
    ...query,
    text: text === undefined ? undefined : withoutOperators(text),
    expressions: expressions?.toSorted(([one], [other]) => Buffer.compare(Buffer.from(one), Buffer.from(other))),
  };
}

function withoutOperators(text: Text): Text {
  if (typeof text === "string") return text;
  switch (text.kind) {
    case "multiMatch":
      return { ...text, operator: undefined };
    case "boost":
      return { ...text, positive: withoutOperators(text.positive), negative: withoutOperators(text.negative) };
    case "boolean":
      return { ...text, parts: text.parts.map(([occur, part]) => [occur, withoutOperators(part)]) };
    default:
      return text;
  }
}
