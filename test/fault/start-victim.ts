import { fileURLToPath } from "node:url";
import { bundled } from "../support/bundled.ts";
import { startNode, type Running } from "../support/project.ts";
import type { Order } from "./victim.ts";

const victim = await bundled(fileURLToPath(new URL("victim.ts", import.meta.url)));

export function startVictim(order: Order, folder: string): Running {
  return startNode([victim, JSON.stringify(order)], folder);
}
