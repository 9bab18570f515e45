/** Reads the proxies that the environment names, as curl and most programs do. */
import { MigrateError } from "../../../errors/migrate-error.ts";

export interface Proxies {
  readonly httpProxy?: string;
  readonly httpsProxy?: string;
}

/** The environment variables that proxies depend on. */
export const proxyVariables = ["http_proxy", "https_proxy", "no_proxy"].flatMap((name) => [name, name.toUpperCase()]);

/** Undefined if there are none. Throws ERR_TARGET_UNREACHABLE, without the address: it may contain a password. */
export function proxiesOf(environment: NodeJS.ProcessEnv, target: string): Proxies | undefined {
  const http = proxyOf(environment, "http_proxy", target);
  const https = proxyOf(environment, "https_proxy", target);
  if (http === undefined && https === undefined) return undefined;
  return { ...(http === undefined ? {} : { httpProxy: http }), ...(https === undefined ? {} : { httpsProxy: https }) };
}

function proxyOf(environment: NodeJS.ProcessEnv, lower: string, target: string): string | undefined {
  const name = environment[lower] ? lower : lower.toUpperCase();
  const value = environment[name]?.trim();
  if (value === undefined || value === "") return undefined;
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  if (URL.canParse(url) && /^https?:/i.test(url) && isDecodable(new URL(url))) return url;
  throw new MigrateError("ERR_TARGET_UNREACHABLE", {
    target,
    problem: `the environment variable ${name} must be the address of a proxy, such as http://proxy.example.com:3128`,
  });
}

function isDecodable({ username, password }: URL): boolean {
  try {
    decodeURIComponent(`${username}${password}`);
    return true;
  } catch {
    return false;
  }
}
