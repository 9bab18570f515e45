/**
 * The parts of undici that are used. Its index loads the whole package, a multiple of these, and a run with nothing
 * pending does little else than load it (npm run bench); what is inside is pinned by package.json and bundled.
 */
import Agent from "undici/lib/dispatcher/agent.js";
import EnvHttpProxyAgent from "undici/lib/dispatcher/env-http-proxy-agent.js";
import request from "undici/lib/api/api-request.js";
import type { Dispatcher } from "undici";

export { Agent, EnvHttpProxyAgent, type Dispatcher };

export function send(dispatcher: Dispatcher, options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData> {
  return request.call(dispatcher, options);
}
