/** Parses the address of a service as people type it. Problems never repeat the input, which may contain a key. */

type Base = { readonly base: string } | { readonly problem: string };

const wanted = "must be an address such as https://lance.example.com";

/** The base to which paths are appended, without a slash at its end; or what is wrong with the address. */
export function baseUrl(endpoint: string, region = "us-east-1"): Base {
  const text = endpoint.trim();
  const cloud = /^db:\/\/([A-Za-z0-9_-]+)\/?$/i.exec(text);
  if (cloud !== null) return { base: `https://${cloud[1]}.${region}.api.lancedb.com` };
  if (/^db:\/\//i.test(text))
    return {
      problem: "must be db://NAME for LanceDB Cloud, with a name of letters, digits, - and _, and nothing after it",
    };
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme !== undefined && scheme !== "http" && scheme !== "https")
    return { problem: "must begin with https:// or http:// (or be db://NAME for LanceDB Cloud)" };
  const url = parse(scheme === undefined ? `${isLoopback(text) ? "http" : "https"}://${text}` : text);
  if (url === undefined) return { problem: wanted };
  if (url.username !== "" || url.password !== "")
    return { problem: "holds a user name or a password; give the key as apiKey or MIGRATE_API_KEY" };
  if (url.search !== "" || url.hash !== "") return { problem: "must end before ? and #; give the key as apiKey" };
  // Documentation may show addresses with /v1 at the end, but the dialects' paths already begin with it.
  const path = url.pathname.replace(/\/+$/, "").replace(/\/+v1$/, "");
  return { base: `${url.origin}${path}` };
}

/** Undefined also for typing errors that `URL` accepts: a scheme without colon or slashes, quotes, two addresses. */
function parse(text: string): URL | undefined {
  if (/[\s"'`\\<>,]/.test(text) || text.indexOf("://", 8) !== -1 || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  return /^(https?|db)$/i.test(url.hostname) ? undefined : url;
}

/** Whether the address is this machine, the only one that is contacted in plain text without a scheme. */
function isLoopback(text: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])([:/]|$)/i.test(text);
}
