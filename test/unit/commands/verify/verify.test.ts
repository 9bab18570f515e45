import { expect, test } from "vitest";
import { MigrateError } from "../../../../src/errors/migrate-error.ts";
import { up } from "../../../../src/commands/up.ts";
import { verifyLedger, verifyTables } from "../../../../src/commands/verify/verify.ts";
import { open as openLance } from "../../../../src/targets/lance/lance.ts";
import { open as openRest } from "../../../../src/features/rest/rest.ts";
import type { Target } from "../../../../src/targets/contract/target.ts";
import { temporaryFolder } from "../../../support/project.ts";
import { rounds } from "../../../support/rounds.ts";
import { aService, apiKey } from "../../../support/service.ts";
import {
  canChange,
  killedAfterChange,
  leapingClock,
  optionsFor,
  watched,
  writeMigrations,
} from "../../../support/watched.ts";

const column = (name: string, kind = "int32") => ({ name, type: { kind }, nullable: true });
const rename = (table: string, path: string, name: string) => ({ kind: "renameColumn", table, path, name });
const migrations = [
  [{ kind: "createTable", table: "t", columns: [column("a"), column("b")] }],
  [
    { kind: "createTable", table: "u", columns: [column("a")] },
    rename("t", "a", "c"),
    rename("u", "a", "d"),
    rename("t", "c", "a"),
    rename("t", "a", "e"),
  ],
  [rename("t", "b", "f"), { kind: "retypeColumn", table: "u", path: "d", type: { kind: "int64" } }],
];

async function onService(): Promise<() => Promise<Target>> {
  const { url } = await aService();
  const target = { kind: "rest", endpoint: url, apiKey, dialect: "service" } as const;
  return () => openRest(target, { name: "test", folder: temporaryFolder() });
}

const kinds: readonly { readonly kind: string; readonly make: () => Promise<() => Promise<Target>> }[] = [
  {
    kind: "lance",
    make: async () => {
      const folder = temporaryFolder();
      return () => openLance({ kind: "lance", uri: "data" }, { name: "test", folder });
    },
  },
  // Its ledger is of markers. That of the namespace dialect is of rows, as that of the embedded engine.
  { kind: "service", make: onService },
];

const modes = kinds.flatMap((one) =>
  // There are no groups where tables can't be described.
  [true, false].filter((is) => is || one.kind !== "service").map((stepByStep) => ({ ...one, stepByStep })),
);

test.each(modes)(
  "what another run is in the middle of is no drift ($kind, step by step: $stepByStep)",
  async (mode) => {
    const { make, stepByStep } = mode;
    const folder = temporaryFolder();
    writeMigrations(folder, migrations);
    const [open, clock] = [await make(), leapingClock()];
    const looker = optionsFor(folder, await open(), clock);
    const seen: object[] = [];
    // After every call of the run that can change something, another looks at what there is.
    const look = async (_: number, what: string) => {
      if (!canChange(what)) return;
      const { differences } = await verifyTables(looker);
      const { findings } = await verifyLedger(looker);
      seen.push({ differences, findings });
    };
    await up(optionsFor(folder, watched(await open(), { after: look }), clock), { stepByStep });
    expect(seen.length).toBeGreaterThan(stepByStep ? 15 : 4);
    expect(seen).toEqual(seen.map(() => ({ differences: [], findings: [] })));
  },
);

test("what a run does between two looks at different tables is no drift", async () => {
  const [{ make }] = kinds as readonly [(typeof kinds)[0]];
  const [folder, clock] = [temporaryFolder(), leapingClock()];
  writeMigrations(folder, migrations.slice(0, 2));
  const open = await make();
  await up(optionsFor(folder, await open(), clock));
  writeMigrations(folder, migrations);
  const started: string[] = [];
  const once = async (_: number, what: string) => {
    if (what !== "look" || started.length > 0) return;
    started.push(what);
    await up(optionsFor(folder, await open(), clock));
  };
  const { differences } = await verifyTables(optionsFor(folder, watched(await open(), { after: once }), clock));
  expect([started, differences]).toEqual([["look"], []]);
});

test.each(modes)("how far a run got that was killed is no drift ($kind, step by step: $stepByStep)", async (mode) => {
  const { make, stepByStep } = mode;
  const folder = temporaryFolder();
  writeMigrations(folder, migrations);
  let kills = 0;
  // As far as there are calls: the first run that is not killed is the last.
  for (let at = 1, ended = false; !ended; at += stepByStep ? rounds(4, 1) : 1) {
    const [open, clock] = [await make(), leapingClock()];
    ended = await up(optionsFor(folder, watched(await open(), killedAfterChange(at)), clock), { stepByStep }).then(
      () => true,
      (error: unknown) => {
        // Nothing else may end it: the call that was cut off is told in the error.
        expect(`${(error as Error).message} ${String((error as Error).cause)}`).toContain("killed");
        return false;
      },
    );
    if (!ended) kills++;
    const looker = optionsFor(folder, await open(), clock);
    const { differences } = await verifyTables(looker);
    const { findings } = await verifyLedger(looker);
    expect({ at, differences, findings }).toEqual({ at, differences: [], findings: [] });
  }
  expect(kills).toBeGreaterThan(3);
});

test("tables can't be compared while a migration is in doubt whose file is not here", async () => {
  const [{ make }] = kinds as readonly [(typeof kinds)[0]];
  const [folder, other, clock] = [temporaryFolder(), temporaryFolder(), leapingClock()];
  writeMigrations(folder, migrations.slice(0, 2));
  const open = await make();
  let calls = 0;
  const gone = (_: number, what: string) => {
    if (what === "execute") calls++;
    if (calls >= 2) throw new MigrateError("ERR_TARGET_UNREACHABLE", { target: "test", problem: "killed" });
  };
  await expect(up(optionsFor(folder, watched(await open(), { before: gone }), clock))).rejects.toThrow("killed");
  writeMigrations(other, migrations.slice(0, 1));
  await expect(verifyTables(optionsFor(other, await open(), clock))).rejects.toMatchObject({ code: "ERR_BEGUN" });
  expect((await verifyTables(optionsFor(folder, await open(), clock))).differences).toEqual([]);
});
