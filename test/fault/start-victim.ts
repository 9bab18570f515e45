import { startNode, type Running } from "../support/project.ts";
import type { Order } from "./victim.ts";

const victim = new URL("victim.ts", import.meta.url).pathname;

export function startVictim(order: Order, folder: string): Running {
  return startNode([victim, JSON.stringify(order)], folder);
}
