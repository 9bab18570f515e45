/** What is secret of a setting, a header, a variable or an address. */

/** Ends of names of what leads to a secret or tells something about it. */
const about =
  /(key[-_]?id|application_credentials|[-_](path|file|host|ur[il]|endpoint|type|expiration|expires|enabled))$/i;
const secret = /secret|token|passw|credential|auth(?!or)|authori[sz]|cookie|signature|sas(_|$)|key|^sig$/i;

/** Whether the value of a setting, a header or a part of a query is a secret, by its name. */
export function namesSecret(name: string): boolean {
  return secret.test(name) && !about.test(name);
}

/** Those of storage options, of variables, or of the members of a JSON document. */
export function secretsOfSettings(settings: object): readonly string[] {
  return Object.entries(settings).flatMap(([name, value]: readonly [string, unknown]) => {
    if (typeof value === "string") return secretsOfSetting(name, value);
    return typeof value === "object" && value !== null ? secretsOfSettings(value) : [];
  });
}

function secretsOfSetting(name: string, value: string): readonly string[] {
  const members = secretsOfDocument(value);
  if (members.length > 0) return members;
  if (!namesSecret(name)) return secretsOfAddress(value);
  // Alone too: what stands behind Bearer or Basic, and the signature of what is signed for a time.
  const [, credentials = value] = /^[a-z]+ +(\S+)$/i.exec(value) ?? [];
  return [value, credentials, ...secretsOfAddress(value), ...secretsOfAddress(`?${value}`)];
}

/** Those of a text that is a JSON document, such as the key file of a service account. */
function secretsOfDocument(text: string): readonly string[] {
  if (!/^\s*\{/.test(text)) return [];
  try {
    return secretsOfSettings(JSON.parse(text) as object);
  } catch {
    return [];
  }
}

/** The password of an address is a secret, a user name that stands alone, and the parts of its query that say so. */
export function secretsOfAddress(address: string): readonly string[] {
  const [, userinfo = ""] = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)@/i.exec(address) ?? [];
  const [, query = ""] = /\?([^#]*)/.exec(address) ?? [];
  const values = query.split("&").flatMap((part) => {
    const [, name = "", value = ""] = /^([^=]*)=(.*)$/s.exec(part) ?? [];
    return namesSecret(name) ? [decoded(value)] : [];
  });
  return [...values, ...secretsOfUser(userinfo)];
}

/** However a proxy is written: also without a scheme, and with characters that belong in no address. */
export function secretsOfProxy(proxy: string): readonly string[] {
  const address = proxy.replace(/^\s*([a-z][a-z0-9+.-]*:\/\/)?/i, "");
  return secretsOfUser(address.slice(0, Math.max(0, address.lastIndexOf("@"))));
}

function secretsOfUser(userinfo: string): readonly string[] {
  if (userinfo === "") return [];
  const [, user = "", password = ""] = /^([^:]*):?(.*)$/s.exec(userinfo) ?? [];
  return [...new Set([userinfo, password === "" ? user : password])].map(decoded);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
