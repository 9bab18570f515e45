/**
 * The running example against a service whose answer to one request gets lost, after the service has acted or before it
 * was asked, at every request in turn: `up` ends well, and each step took effect once.
 */
import { join } from "node:path";
import { expect, test } from "vitest";
import { up, type MigratorOptions } from "../../src/run/migrator.ts";
import { open } from "../../src/targets/rest/rest.ts";
import { root, temporaryFolder } from "../support/project.ts";
import { aProxy, type Fate } from "../support/proxy.ts";
import { aService, apiKey } from "../support/service.ts";
import { columnsOf } from "../support/tables.ts";

type Dialect = "service" | "namespace";

const expected = {
  documents: [
    "id: int64 not null",
    "headline: utf8 not null",
    "source: struct<url: largeUtf8, fetched_at: utf8>",
    "relevance: float64",
    "embedding: fixedSizeList<float32, 8>",
  ],
  // Swapped once: the column that was made first has the name of the other.
  authors: [
    "id: int64 not null",
    "last_name: utf8",
    "first_name: utf8",
    "joined: timestamp(ms, UTC)",
    "documents: list<int64>",
  ],
};

/** Runs the example and gives how many requests it took, and the tables afterwards. */
async function run(dialect: Dialect, at: number, fate: Fate) {
  const service = await aService();
  const proxy = await aProxy(service.url);
  proxy.fate = (request) => (request === at ? fate : "passes");
  const options = async (endpoint: string): Promise<MigratorOptions> => ({
    target: await open({ kind: "rest", endpoint, apiKey, dialect }, { name: "test", folder: temporaryFolder() }),
    folder: join(root, "migrations"),
    ledger: "_migrations",
    // Whoever took the lease without hearing of it has to wait for it; and yet long enough that it does not run out on a
    // slow machine, for who then loses the answer to taking it again has lost it.
    lease: { duration: 3_000, patience: 60_000 },
  });
  const through = await options(proxy.url);
  // What a run can't find out, the next one does.
  let problem: string | undefined;
  const first = await up(through).catch((error: unknown) => void (problem = String(error)));
  const { total } = first ?? (await up(through));
  await through.target.close();
  const requests = proxy.passed.length;
  const again = await options(service.url);
  const { applied } = await up(again);
  await again.target.close();
  const tables = {
    documents: await columnsOf(service.data, "documents"),
    authors: await columnsOf(service.data, "authors"),
  };
  return { requests, problem, outcome: { total, appliedAgain: applied, tables } };
}

const right = { total: 7, appliedAgain: 0, tables: expected };
/**
 * A swap that never reached the service is not sent twice in one run: it could still be under way. On a slow machine, where
 * the lease is renewed in between, no request may happen to be that one.
 */
const mostGivenUp = { service: 0, namespace: 1 };

test.each(["service", "namespace"] as const)(
  "a lost answer at any request of the running example is found out about, in the dialect %s",
  { timeout: 600_000 },
  async (dialect) => {
    const { requests, outcome } = await run(dialect, 0, "passes");
    expect(outcome).toEqual(right);
    const gaveUp: Record<"lost" | "unsent", string[]> = { lost: [], unsent: [] };
    for (let at = 1; at <= requests; at++)
      await Promise.all(
        (["lost", "unsent"] as const).map(async (fate) => {
          const ran = await run(dialect, at, fate);
          expect({ at, fate, ...ran.outcome }).toEqual({ at, fate, ...right });
          if (ran.problem !== undefined) gaveUp[fate].push(`request ${at}: ${ran.problem}`);
        }),
      );
    expect(gaveUp.lost).toEqual([]);
    expect(gaveUp.unsent.slice(mostGivenUp[dialect])).toEqual([]);
  },
);
