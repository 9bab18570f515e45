/** The address of a service as people type it. Problems never repeat what was typed: a key may have got into it. */

/** The base that paths are put behind, without a slash at its end; or what is wrong with it. */
export function baseUrl(
  endpoint: string,
  region = "us-east-1",
): { readonly base: string } | { readonly problem: string } {
  const text = endpoint.trim();
  const cloud = /^db:\/\/([A-Za-z0-9_-]+)\/?$/i.exec(text);
  if (cloud !== null) return { base: `https://${cloud[1]}.${region}.api.lancedb.com` };
  const url = parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `${isLoopback(text) ? "http" : "https"}://${text}`);
  if (url === undefined) return { problem: "has to be an address such as https://lance.example.com" };
  if (url.protocol !== "http:" && url.protocol !== "https:")
    return { problem: "has to begin with https:// or http:// (or be db://NAME for LanceDB Cloud)" };
  if (url.username !== "" || url.password !== "")
    return { problem: "holds a user name or a password; give the key as apiKey or MIGRATE_API_KEY" };
  if (url.search !== "" || url.hash !== "") return { problem: "has to end before ? and #; give the key as apiKey" };
  // Documentation writes addresses with the version that our paths begin with.
  const path = url.pathname.replace(/\/+$/, "").replace(/\/v1$/, "");
  return { base: `${url.origin}${path}` };
}

function parse(text: string): URL | undefined {
  return URL.canParse(text) && !/\s/.test(text) ? new URL(text) : undefined;
}

/** Without a scheme, only this machine is spoken to in plain text. */
function isLoopback(text: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])([:/]|$)/i.test(text);
}
