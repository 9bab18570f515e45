import { tmpdir } from "node:os";
import { join } from "node:path";
import { startNode, type Running } from "../support/project.ts";
import type { Order } from "./victim.ts";

const victim = new URL("victim.ts", import.meta.url).pathname;

/** Most of what such a process costs is its start, so what Node makes of its modules is kept for the next. */
export function startVictim(order: Order, folder: string): Running {
  return startNode([victim, JSON.stringify(order)], folder, {
    NODE_COMPILE_CACHE: join(tmpdir(), "lance-migrate-code"),
  });
}
