/** The identity of this process in the ledger. */
import { randomUUID } from "node:crypto";
import { hostname, userInfo } from "node:os";
import type { Runner } from "../ledger/lease/record-chain.ts";
import packageJson from "../../package.json" with { type: "json" };

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
