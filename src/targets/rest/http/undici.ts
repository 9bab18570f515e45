/**
 * The parts of undici that are used. Its index loads the whole package, which is several times as large, and a run with
 * nothing pending does little else than load it (npm run bench). The package is pinned by package.json and bundled.
 */
import Agent from "undici/lib/dispatcher/agent.js";
import Dispatcher from "undici/lib/dispatcher/dispatcher.js";
import EnvHttpProxyAgent from "undici/lib/dispatcher/env-http-proxy-agent.js";
import connect from "undici/lib/api/api-connect.js";
import request from "undici/lib/api/api-request.js";

export type { Dispatcher };

/** Keeps connections open between requests, and uses proxies if there are any. */
export function makeDispatcher(options: Agent.Options, proxies: EnvHttpProxyAgent.Options | undefined): Dispatcher {
  // As undici's index does it. Proxies are contacted with `connect`.
  Object.assign(Dispatcher.prototype, { request, connect });
  return proxies === undefined ? new Agent(options) : new EnvHttpProxyAgent({ ...options, ...proxies });
}
