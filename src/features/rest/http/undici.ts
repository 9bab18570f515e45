/**
 * The parts of undici that are used. Its index loads the whole package, which is several times as large, and a run with
 * nothing pending does little else than load it (npm run bench rest). The package is pinned by package.json and bundled
 * (rolldown.config.ts).
 */
import Agent from "undici/lib/dispatcher/agent.js";
import Dispatcher from "undici/lib/dispatcher/dispatcher.js";
import connect from "undici/lib/api/api-connect.js";
import request from "undici/lib/api/api-request.js";
import type { ProxyOptions } from "./undici-proxy.ts";

export type { Dispatcher };

/** Keeps connections open between requests, and uses proxies if there are any. */
export async function makeDispatcher(options: Agent.Options, proxies: ProxyOptions | undefined): Promise<Dispatcher> {
  // As undici's index does it. Proxies are contacted with `connect`.
  Object.assign(Dispatcher.prototype, { request, connect });
  if (proxies === undefined) return new Agent(options);
  return (await import("./undici-proxy.ts")).makeProxyAgent({ ...options, ...proxies });
}
