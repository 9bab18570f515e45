/** The configuration of a service, and what the environment adds to it. */
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import {
  exactObject,
  filledText,
  allOf,
  must,
  onlyKeys,
  oneOf,
  optional,
  recordOf,
  seconds,
  text,
  textThat,
  type Check,
  type Shape,
} from "../../../checks/check.ts";
import { firstLine, MigrateError } from "../../../errors/migrate-error.ts";
import { keepSecret } from "../../../secrets/redact.ts";
import { withoutSecrets } from "../../../secrets/encoded-forms.ts";
import { secretsOfAddress, secretsOfSettings } from "../../../secrets/find-in-settings.ts";
import { headerValue } from "../../../wire/content-types.ts";
import { databaseSlot, type OpenContext } from "../../../targets/contract/target.ts";
import { dialects, endpoint, operations, type Dialect, type Operation } from "./dialects.ts";
import type { RestConfig } from "./rest-config.ts";
import { baseUrl } from "./base-url.ts";
import type { Vocabulary } from "./alter-types.ts";

/** A text that fits into a header. The message does not repeat the value, which may be a key. */
const headerText = (what: string) =>
  allOf(
    filledText(`must be ${what}`),
    textThat(
      (value) => headerValue.test(value),
      `must be ${what} of plain characters, without line breaks or spaces around it`,
    ),
  );
const headerName = textThat((name) => isHeaderName(name), "must be the name of a header");
/** Headers that only the client itself sets. */
const ownHeaders =
  /^(connection|content-length|content-type|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade)$/i;

function isHeaderName(name: string): boolean {
  return /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name);
}

/** What is wrong with the headers, or undefined. Repeats a name only if it can't be a secret typed in its place. */
function headersProblem(headers: Readonly<Record<string, unknown>>): string | undefined {
  for (const [name, value] of Object.entries(headers)) {
    if (!isHeaderName(name)) return "holds something that is no name of a header";
    if (ownHeaders.test(name)) return `can't set ${name.toLowerCase()}`;
    if (headerText("a text")(value).length > 0)
      return "must hold texts of plain characters, without line breaks or spaces around them";
  }
  return undefined;
}

const apiKey = headerText("a key");
const databaseName = headerText("a name");
const vocabularies = ["lance", "arrow", "string"] as const satisfies readonly Vocabulary[];

const shape: Shape<RestConfig> = {
  kind: oneOf(["rest"], 'must be "rest"'),
  endpoint: optional(text("must be an address")),
  apiKey: optional(apiKey),
  database: optional(databaseName),
  dialect: optional(oneOf(Object.keys(dialects), 'must be "service" or "namespace"')),
  region: optional(
    allOf(
      filledText("must be a region"),
      textThat((region) => /^[A-Za-z0-9-]+$/.test(region), "must be a region such as us-east-1"),
    ),
  ),
  types: optional(oneOf(vocabularies, 'must be "lance", "arrow" or "string"')),
  endpoints: optional(
    allOf(
      recordOf(() => [], "must be an object of endpoints"),
      onlyKeys(operations),
      recordOf(endpoint, ""),
      must(
        (endpoints) =>
          Object.entries(endpoints as Readonly<Record<string, string>>).every(
            ([name, value]) => name === "list" || value.includes("{name}"),
          ),
        "must say where the table's name stands, as {name}, in all but list",
      ),
    ),
  ),
  keyHeader: optional(headerName),
  databaseHeader: optional(headerName),
  headers: optional(
    allOf(
      recordOf(() => [], "must be an object of texts"),
      (headers) => {
        const message = headersProblem(headers as Readonly<Record<string, unknown>>);
        return message === undefined ? [] : [{ path: [], message }];
      },
    ),
  ),
  ca: optional(filledText("must be a file")),
  connectSeconds: optional(seconds(0.1)),
  answerSeconds: optional(seconds(0.1)),
};

export const options: Check = exactObject(shape, "must be an object");

/**
 * The options of one of several databases. Its name replaces `{database}` in the address. If the address has no such
 * part, the name is sent as `database`.
 */
export function inDatabase(
  target: RestConfig,
  name: string,
  own: Partial<RestConfig>,
): { readonly settings: RestConfig; readonly place: string } | { readonly problem: string } {
  if (process.env["MIGRATE_DATABASE"])
    return { problem: "the environment variable MIGRATE_DATABASE can't be used with databases" };
  const merged = { ...target, ...own };
  const address = merged.endpoint ?? process.env["MIGRATE_ENDPOINT"] ?? "";
  const isNamed = address.includes(databaseSlot);
  if (!isNamed && target.database !== undefined)
    return { problem: "database can't be set beside databases, whose names are sent in its place" };
  const endpoint = address.replaceAll(databaseSlot, name);
  const database = isNamed ? merged.database : (own.database ?? name);
  // Known before any database is opened, because a message about another one may contain them.
  keepSecret(merged.apiKey, ...secretsOfSettings(merged.headers ?? {}));
  const parsed = baseUrl(endpoint, merged.region);
  const place = JSON.stringify(["base" in parsed ? parsed.base : endpoint, database]);
  return { settings: { ...merged, database, ...(isNamed ? { endpoint } : {}) }, place };
}

/** Everything that requests need. */
export interface RestSettings {
  readonly target: string;
  /** The service and its database, without secrets. */
  readonly place: string;
  readonly base: string;
  /** Why no request can be sent yet, if something is missing; migrations can be checked without requests. */
  readonly missing: MigrateError | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly dialect: Dialect;
  readonly types: Vocabulary;
  /** Texts that must never be shown. */
  readonly secrets: readonly string[];
  readonly ca: string | undefined;
  /** Milliseconds. */
  readonly connectTimeout: number;
  readonly answerTimeout: number;
}

export function settingsOf(given: RestConfig, { name, folder }: OpenContext): RestSettings {
  const refuse = (problem: string) => new MigrateError("ERR_CONFIG_INVALID", { file: `target ${name}`, problem });
  const address = given.endpoint ?? process.env["MIGRATE_ENDPOINT"] ?? "";
  const key = fromEnvironment(given.apiKey, "MIGRATE_API_KEY", apiKey, refuse) ?? "";
  const headers = given.headers ?? {};
  const secrets = [key, ...secretsOfSettings(headers)];
  keepSecret(...secrets);
  const database = fromEnvironment(given.database, "MIGRATE_DATABASE", databaseName, refuse);
  const parsed = address === "" ? { base: "" } : baseUrl(address, given.region);
  if ("problem" in parsed) throw refuse(`endpoint ${parsed.problem}`);
  if (key.length > 3 && withoutSecrets(address, [key]) !== address)
    throw refuse("endpoint holds the key; it must be the address alone");
  const known = dialects[given.dialect ?? "service"];
  const overrides = Object.entries(given.endpoints ?? {}) as readonly (readonly [Operation, string])[];
  const foreign = overrides.find(([operation]) => known.endpoints[operation] === undefined);
  if (foreign !== undefined)
    throw refuse(`endpoints.${foreign[0]} is not an endpoint of the dialect ${given.dialect ?? "service"}`);
  const databaseHeaders = given.databaseHeader === undefined ? known.databaseHeaders : [given.databaseHeader];
  const missing =
    address === ""
      ? "has no endpoint; set endpoint or the environment variable MIGRATE_ENDPOINT"
      : key === ""
        ? "has no apiKey; set the environment variable MIGRATE_API_KEY"
        : undefined;
  return {
    target: name,
    place: withoutSecrets(database === undefined ? parsed.base : `${parsed.base} (database ${database})`, [
      ...secrets,
      ...secretsOfAddress(parsed.base),
    ]),
    base: parsed.base,
    missing: missing === undefined ? undefined : refuse(missing),
    headers: {
      ...lowerCased(headers),
      ...lowerCased({ [given.keyHeader ?? "x-api-key"]: key }),
      ...(database === undefined ? {} : lowerCased(Object.fromEntries(databaseHeaders.map((one) => [one, database])))),
    },
    dialect: { ...known, endpoints: { ...known.endpoints, ...given.endpoints } },
    types: given.types ?? "lance",
    secrets: secrets.filter(({ length }) => length > 3),
    ca: given.ca === undefined ? undefined : readCertificates(resolve(folder, given.ca), refuse),
    connectTimeout: Math.round((given.connectSeconds ?? 10) * 1000),
    answerTimeout: Math.round((given.answerSeconds ?? 300) * 1000),
  };
}

/** Header names are case-insensitive: without this, one that is given twice would be sent twice. */
function lowerCased(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function fromEnvironment(
  given: string | undefined,
  variable: string,
  check: Check,
  refuse: (problem: string) => MigrateError,
): string | undefined {
  const value = given ?? process.env[variable];
  if (given !== undefined || value === undefined || value === "") return given;
  const [problem] = check(value);
  if (problem !== undefined) throw refuse(`the environment variable ${variable} ${problem.message}`);
  return value;
}

function readCertificates(file: string, refuse: (problem: string) => MigrateError): string {
  let pem: string;
  try {
    pem = readFileSync(file, "utf8");
  } catch (cause) {
    throw refuse(`ca can't be read: ${firstLine(cause)}`);
  }
  const certificates = pem.match(/-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----/g) ?? [];
  if (certificates.length === 0 || !certificates.every(isCertificate))
    throw refuse("ca is no file of PEM certificates");
  return pem;
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== "";
  } catch {
    return false;
  }
}
