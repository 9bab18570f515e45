/** Baselines that are killed, and that meet a run, on the real engine. */
import { expect, test } from "vitest";
import { baseline } from "../../../../src/features/repair/baseline.ts";
import { up } from "../../../../src/commands/up.ts";
import { status } from "../../../../src/commands/status.ts";
import { verifyLedger, verifyTables } from "../../../../src/commands/verify/verify.ts";
import { open as openLance } from "../../../../src/targets/lance/lance.ts";
import { open as openRest } from "../../../../src/features/rest/rest.ts";
import type { Target } from "../../../../src/targets/contract/target.ts";
import { temporaryFolder } from "../../../support/project.ts";
import { aService, apiKey } from "../../../support/service.ts";
import { lancedb } from "../../../support/tables.ts";
import { killedAfterChange, leapingClock, optionsFor, watched, writeMigrations } from "../../../support/watched.ts";

const column = (name: string) => ({ name, type: { kind: "float64" }, nullable: true });
const migrations = [
  [{ kind: "createTable", table: "t", columns: [column("a")] }],
  [{ kind: "createTable", table: "u", columns: [column("a")] }],
  [{ kind: "createTable", table: "v", columns: [column("a")] }],
];

/** A folder in which the tables are there and no ledger is, and how to open it. */
const kinds: readonly { readonly kind: string; readonly make: () => Promise<() => Promise<Target>> }[] = [
  {
    kind: "lance",
    make: async () => {
      const folder = await withTables(temporaryFolder());
      return () => openLance({ kind: "lance", uri: folder }, { name: "test", folder });
    },
  },
  // Its ledger is of markers. That of the namespace dialect is of rows, as that of the embedded engine.
  {
    kind: "service",
    make: async () => {
      const { url, data } = await aService();
      await withTables(data);
      const target = { kind: "rest", endpoint: url, apiKey, dialect: "service" } as const;
      return () => openRest(target, { name: "test", folder: data });
    },
  },
];

async function withTables(folder: string): Promise<string> {
  const db = await lancedb.connect(folder);
  for (const name of ["t", "u", "v"]) await db.createTable(name, [{ a: 1 }]);
  return folder;
}

test.each(kinds)(
  "wherever it is killed, the next one marks the rest and nothing is in doubt ($kind)",
  async ({ make }) => {
    const folder = temporaryFolder();
    writeMigrations(folder, migrations);
    let dead = 0;
    for (let at = 1; ; at++) {
      const [open, clock] = [await make(), leapingClock()];
      const died = await baseline(optionsFor(folder, watched(await open(), killedAfterChange(at)), clock)).then(
        () => false,
        () => true,
      );
      if (!died) break;
      dead++;
      const next = optionsFor(folder, await open(), clock);
      await baseline(next);
      const { applied, pending, problem } = await status(next);
      expect({
        at,
        applied: applied.map(({ version, isBaselined }) => [version, isBaselined]),
        pending,
        problem,
      }).toEqual({
        at,
        applied: [1, 2, 3].map((version) => [version, true]),
        pending: [],
        problem: undefined,
      });
      expect((await verifyLedger(next)).findings).toEqual([]);
      expect((await verifyTables(next)).differences).toEqual([]);
      expect(await up(next)).toEqual({ applied: 0, total: 3 });
    }
    expect(dead).toBeGreaterThan(2);
  },
);

test.each(kinds)(
  "a run that comes first leaves nothing to mark, and one that comes after nothing to do ($kind)",
  async ({ make }) => {
    const folder = temporaryFolder();
    writeMigrations(folder, migrations.slice(0, 2));
    const [open, clock] = [await make(), leapingClock()];
    const started: string[] = [];
    const other = async (_: number, what: string) => {
      if (what !== "take" && !(what === "write" && started.length === 0)) return;
      if (started.length > 0) return;
      started.push(what);
      // Whoever is quicker takes the lease.
      await baseline(optionsFor(folder, await open(), clock));
    };
    const { migrations: marked } = await baseline(optionsFor(folder, watched(await open(), { before: other }), clock));
    expect([started.length, marked]).toEqual([1, []]);
    const after = optionsFor(folder, await open(), clock);
    expect(await up(after)).toEqual({ applied: 0, total: 2 });
    expect((await verifyLedger(after)).findings).toEqual([]);
  },
);
