/** Migrations, and ledgers in which they ran, for tests of what follows from them. */
import { foldLedger } from "../../src/ledger/state/fold.ts";
import type { LedgerState } from "../../src/ledger/state/ledger-state.ts";
import type { LedgerEvent, LedgerRecord } from "../../src/ledger/state/record.ts";
import { checksumOf, stepHash } from "../../src/migrations/checksum.ts";
import { formatVersion } from "../../src/migrations/file-name.ts";
import type { Migration } from "../../src/migrations/load.ts";
import { parseStep, type Step } from "../../src/steps/registry.ts";

/** `steps`: as files export them. */
export function aMigration(version: number, steps: readonly object[]): Migration {
  const parsed = steps.map(parsedStep);
  const file = `${formatVersion(version)}_m${version}.ts`;
  return { version, name: `m${version}`, file, path: file, textHash: "", steps: parsed, checksum: checksumOf(parsed) };
}

function parsedStep(step: object): Step {
  const read = parseStep(step);
  if (!("step" in read)) throw new TypeError(`no step: ${JSON.stringify(step)}`);
  return read.step;
}

/** A ledger of one epoch with these events, each of a migration of which so many steps were done, or all. */
export function aLedger(...events: readonly (readonly [LedgerEvent, Migration, done?: number])[]): LedgerState {
  const who = { at: 0, by: "ann", run: "run", tool: "test", applied: "", previous: "", epoch: 1 };
  const records = events.map(([event, { version, name, steps, textHash }, done], index): LedgerRecord => {
    const ran = steps.slice(0, done ?? steps.length);
    const hashes = { checksum: checksumOf(ran), steps: ran.map(stepHash), textHash };
    const facts = { version, name, step: ran.length, total: steps.length, attempt: 1, ...hashes };
    return { ...who, number: index + 1, event, ...facts };
  });
  return foldLedger([{ ...who, number: 0, event: "taken" }, ...records]);
}
