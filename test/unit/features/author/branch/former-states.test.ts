/**
 * A project adds, squashes and renumbers migrations, and a database visits some of its releases. At each release, `up`
 * either brings the database up to date or refuses, and `status` states which.
 */
import { createTable, int32 } from "lance-migrate";
import { expect, test } from "vitest";
import { status } from "../../../../../src/commands/status.ts";
import { up } from "../../../../../src/commands/up.ts";
import { isMigrateError } from "../../../../../src/errors/migrate-error.ts";
import { namesEver, namesNow, parseFormer } from "../../../../../src/migrations/former-names.ts";
import type { Migration } from "../../../../../src/migrations/load.ts";
import type { MigratorOptions } from "../../../../../src/run/run-context.ts";
import type { Target } from "../../../../../src/targets/contract/target.ts";
import { aMigration } from "../../../../simulate/history.ts";
import { memoryTables } from "../../../../simulate/target/memory-tables.ts";
import { memoryTarget } from "../../../../simulate/target/memory-target.ts";
import * as fc from "../../../../support/fast-check.ts";
import { rounds } from "../../../../support/rounds.ts";

/** A migration, and the tables that it creates, by their numbers. */
interface File {
  readonly migration: Migration;
  readonly creates: readonly number[];
}
type Release = readonly File[];

type Change =
  | { readonly kind: "add" }
  /** Squashes about this share of the files. */
  | { readonly kind: "squash"; readonly share: number }
  /** A release of a branch, and one after it was merged and renumbered. */
  | { readonly kind: "merge" };

const changes: fc.Arbitrary<readonly Change[]> = fc.array(
  fc.oneof(
    fc.constant({ kind: "add" } as const),
    fc.record({ kind: fc.constant("squash" as const), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
    fc.constant({ kind: "merge" } as const),
  ),
  { minLength: 3, maxLength: 8 },
);

/** Which releases the database visits, and up to which share of their files it is migrated. */
const visits = fc.array(fc.constantFrom(undefined, undefined, 0.3, 0.7, 1, 1), { minLength: 18, maxLength: 18 });

function releasesOf(all: readonly Change[]): readonly Release[] {
  let tables = 0;
  const aFile = (version: number): File => {
    const number = tables++;
    const made = aMigration(version, [createTable(`t${number}`, { id: int32() })]);
    return { migration: { ...made, name: `t${number}` }, creates: [number] };
  };
  const releases: Release[] = [[aFile(1), aFile(2)]];
  for (const [index, change] of all.entries()) {
    const files = releases.at(-1)!;
    const next = files.at(-1)!.migration.version + 1;
    if (change.kind === "add") releases.push([...files, aFile(next)]);
    else if (change.kind === "merge") {
      const [incoming, own] = [aFile(next), aFile(next)];
      const was = namesNow(own.migration).flatMap(parseFormer);
      const renumbered = { ...own, migration: { ...own.migration, version: next + 1, was } };
      releases.push([...files, own], [...files, incoming, renumbered]);
    } else {
      const many = Math.max(2, Math.round(change.share * files.length));
      if (many <= files.length) releases.push([squashed(files.slice(0, many), index), ...files.slice(many)]);
    }
  }
  return releases;
}

function squashed(files: Release, index: number): File {
  const migrations = files.map(({ migration }) => migration);
  const together = aMigration(
    migrations.at(-1)!.version,
    migrations.flatMap(({ steps }) => steps),
  );
  const replaces = namesEver(migrations).flatMap(parseFormer);
  return {
    migration: { ...together, name: `squash${index}`, replaces },
    creates: files.flatMap(({ creates }) => creates),
  };
}

function aDatabase() {
  const tables = memoryTables();
  const memory = memoryTarget({ name: "memory", model: "embedded", tables });
  const created: string[] = [];
  const target: Target = {
    ...memory,
    async execute(action, snapshot) {
      if (action.kind === "createTable") created.push(action.table);
      return await memory.execute(action, snapshot);
    },
  };
  return { created, target };
}

function optionsOf(target: Target, files: Release): MigratorOptions {
  const all = files.map(({ migration }) => migration);
  const load = async ({ version }: { readonly version: number }) => all.find((one) => one.version === version)!;
  return {
    target,
    migrations: { list: () => all, load },
    ledger: "_migrations",
    lease: { duration: 30_000, patience: 0 },
  };
}

test("whatever of a history a database has run, nothing runs twice, nothing is left out, and status states what up does", async () => {
  const seen = { refused: 0, recognised: 0 };
  await fc.assert(
    fc.asyncProperty(changes, visits, async (all, shares) => {
      const releases = releasesOf(all);
      const { target, created } = aDatabase();
      const ran = new Set<number>();
      for (const [index, files] of releases.entries()) {
        const share = index === releases.length - 1 ? 1 : shares[index];
        if (share === undefined) continue;
        const options = optionsOf(target, files);
        const before = [...created];
        const isPart = files.some(
          ({ creates }) => creates.some((one) => ran.has(one)) && !creates.every((one) => ran.has(one)),
        );
        const { problem, pending } = await status(options);
        const to = files[Math.round(share * (files.length - 1))]!.migration.version;
        let refusal: unknown;
        await up(
          { ...options, emit: ({ event }) => (seen.recognised += Number(event === "recognised")) },
          { to },
        ).catch((error: unknown) => void (refusal = error));
        expect(refusal !== undefined, String(refusal)).toBe(isPart);
        if (isPart) {
          seen.refused++;
          expect(isMigrateError(refusal, "ERR_REPLACES")).toBe(true);
          expect(problem).toBe((refusal as Error).message);
          expect(created).toEqual(before);
          continue;
        }
        expect(problem).toBeUndefined();
        expect(pending.map(({ version }) => version)).toEqual(
          files
            .filter(({ creates }) => !creates.every((one) => ran.has(one)))
            .map(({ migration }) => migration.version),
        );
        for (const { migration, creates } of files)
          if (migration.version <= to) for (const one of creates) ran.add(one);
        expect(created.toSorted()).toEqual([...ran].map((one) => `t${one}`).toSorted());
      }
    }),
    { numRuns: rounds(100, 2_000) },
  );
  expect(Math.min(seen.refused, seen.recognised)).toBeGreaterThan(10);
});
