/** What is secret of a setting, a header, a variable or an address. */

/** Ends of names of what leads to a secret or tells something about it. */
const about =
  /(key[-_]?id|application_credentials|[-_](path|file|host|ur[il]|endpoint|type|expiration|expires|enabled))$/i;
const secret = /secret|token|passw|credential|auth(?!or)|authori[sz]|cookie|signature|sas(_|$)|key|^sig$/i;

/** Whether the value of a setting, a header or a part of a query is a secret, by its name. */
export function namesSecret(name: string): boolean {
  return secret.test(name) && !about.test(name);
}

/** The user name and the password of an address are secrets, and so are the parts of its query that say so. */
export function secretsOfAddress(address: string): readonly string[] {
  const [, userinfo = ""] = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)@/i.exec(address) ?? [];
  const [, query = ""] = /\?([^#]*)/.exec(address) ?? [];
  const values = query
    .split("&")
    .flatMap((part) => (namesSecret(part.split("=", 1)[0]!) ? [part.slice(part.indexOf("=") + 1)] : []));
  return [...values, ...(userinfo === "" ? [] : [userinfo, ...userinfo.split(":").slice(1)])].map(decoded);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
