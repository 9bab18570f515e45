/** The part of undici that sends requests through proxies. Loaded only if there are any. */
import type Dispatcher from "undici/lib/dispatcher/dispatcher.js";
import EnvHttpProxyAgent from "undici/lib/dispatcher/env-http-proxy-agent.js";

export type ProxyOptions = EnvHttpProxyAgent.Options;

export function makeProxyAgent(options: ProxyOptions): Dispatcher {
  return new EnvHttpProxyAgent(options);
}
