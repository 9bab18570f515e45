/** What every run needs: its options with the defaults filled in, and its ledger. */
import { randomUUID } from "node:crypto";
import { hostname, userInfo } from "node:os";
import { systemClock, type Clock } from "../time/clock.ts";
import type { Runner } from "../ledger/lease/record-chain.ts";
import type { Journal } from "../ledger/journal/journal.ts";
import { journalOf } from "../ledger/journal/open-journal.ts";
import type { Emit } from "./events.ts";
import type { MigratorOptions } from "./options.ts";
import packageJson from "../../package.json" with { type: "json" };

export interface RunContext extends MigratorOptions {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly runner: Runner;
  readonly emit: Emit;
}

export function runContext(options: MigratorOptions): RunContext {
  const { target, ledger, clock = systemClock, runner = thisRunner(), emit = () => {} } = options;
  return { ...options, clock, runner, emit, journal: journalOf(target, ledger, clock) };
}

/** The identity of this process in the ledger. */
export function thisRunner(): Runner {
  return {
    by: `${userName()}@${hostname()} (process ${process.pid})`,
    run: randomUUID(),
    tool: `${packageJson.name} ${packageJson.version}`,
  };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run as a user that has no name.
    return String(process.getuid?.() ?? "somebody");
  }
}
