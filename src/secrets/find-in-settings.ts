/** Finds what is secret in settings, headers, variables and addresses. */

/** Ends of the names of settings that lead to a secret or describe one, and hold none. */
const about =
  /(key[-_]?id|application_credentials|[-_](path|file|host|ur[il]|endpoint|type|expiration|expires|enabled))$/i;
const secret = /secret|token|passw|credential|auth(?!or)|authori[sz]|cookie|signature|sas(_|$)|key|^sig$/i;

/** Whether the name of a setting, a header or a query parameter indicates that its value is a secret. */
export function namesSecret(name: string): boolean {
  return secret.test(name) && !about.test(name);
}

/** The secrets in storage options, in environment variables or in the members of a JSON document. */
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
  // The credentials after Bearer or Basic are secret on their own too, and the signature in a token that has the form
  // of a query.
  const [, credentials = value] = /^[a-z]+ +(\S+)$/i.exec(value) ?? [];
  return [value, credentials, ...secretsOfAddress(value), ...secretsOfAddress(`?${value}`)];
}

/** The secrets in a text that is a JSON document, such as the key file of a service account. */
function secretsOfDocument(text: string): readonly string[] {
  if (!/^\s*\{/.test(text)) return [];
  try {
    return secretsOfSettings(JSON.parse(text) as object);
  } catch {
    return [];
  }
}

/**
 * The secrets of an address: its user information, the password (or else the user name) in it, and the query parameters
 * that `namesSecret` recognises.
 */
export function secretsOfAddress(address: string): readonly string[] {
  const [, userinfo = ""] = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)@/i.exec(address) ?? [];
  const [, query = ""] = /\?([^#]*)/.exec(address) ?? [];
  const values = query.split("&").flatMap((part) => {
    const [, name = "", value = ""] = /^([^=]*)=(.*)$/s.exec(part) ?? [];
    return namesSecret(name) ? [decoded(value)] : [];
  });
  return [...values, ...secretsOfUser(userinfo)];
}

/** The secrets of a proxy setting, which may lack a scheme and may contain characters that no address allows. */
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
