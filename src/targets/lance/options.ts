/** The configuration of a database in a folder or an object store. */
import {
  exactObject,
  allOf,
  oneOf,
  optional,
  recordOf,
  seconds,
  text,
  yesOrNo,
  type Check,
  type Shape,
} from "../../checks/check.ts";
import { locationOf, uriProblem, type DatabaseLocation } from "../../engine/location.ts";
import { databaseSlot } from "../contract/target.ts";
import { withoutSecrets } from "../../secrets/encoded-forms.ts";
import { keepSecret } from "../../secrets/redact.ts";
import { secretsOfAddress, secretsOfSettings } from "../../secrets/find-in-settings.ts";
import { dataStorageVersions, type NewTables } from "../../schema/table-format.ts";

/** The configuration of a database that the embedded engine opens. */
export interface LanceConfig {
  readonly kind: "lance";
  /** A folder, or a URI such as `s3://bucket/path`. */
  readonly uri: string;
  /** Options for the engine's object store, such as region, endpoint and credentials. */
  readonly storageOptions?: Readonly<Record<string, string>> | undefined;
  /** The file format of new tables. Set it if applications with older clients use the tables. */
  readonly newTables?: NewTables | undefined;
  /**
   * How long to wait for an object store in calls that only read.
   *
   * @default 60
   */
  readonly answerSeconds?: number | undefined;
}

const versions = dataStorageVersions.map((version) => `"${version}"`).join(", ");

const newTablesShape: Shape<NewTables> = {
  dataStorageVersion: optional(oneOf(dataStorageVersions, `must be one of ${versions}`)),
  stableRowIds: optional(yesOrNo),
};

const shape: Shape<LanceConfig> = {
  kind: oneOf(["lance"], 'must be "lance"'),
  uri: allOf(text("must be a folder or a URI"), (uri) => {
    const problem = uriProblem(uri as string);
    return problem === undefined ? [] : [{ path: [], message: problem }];
  }),
  storageOptions: optional(
    allOf(recordOf(text("must be a text"), "must be an object of texts"), (given) =>
      // The engine panics.
      Object.entries(given as Readonly<Record<string, string>>).flatMap(([name, value]) =>
        /^(aws_)?endpoint(_url)?$/i.test(name) && !isWebAddress(value)
          ? [{ path: [name], message: "must begin with https:// or http://" }]
          : [],
      ),
    ),
  ),
  newTables: optional(exactObject(newTablesShape, "must be an object")),
  answerSeconds: optional(seconds(0.1)),
};

export const options: Check = exactObject(shape, "must be an object");

function isWebAddress(text: string): boolean {
  return /^https?:/i.test(text) && URL.canParse(text);
}

/** The options of one of several databases, in whose URI the name replaces `{database}`. */
export function inDatabase(
  target: LanceConfig,
  name: string,
  own: Partial<LanceConfig>,
  folder: string,
): { readonly settings: LanceConfig; readonly place: string } | { readonly problem: string } {
  const merged = { ...target, ...own };
  if (own.uri === undefined && !merged.uri.includes(databaseSlot))
    return { problem: `uri must contain ${databaseSlot}, which is replaced by the name of each database` };
  const uri = merged.uri.replaceAll(databaseSlot, name);
  // Known before any database is opened, because a message about another one may contain them.
  keepSecret(...secretsOfAddress(uri), ...secretsOfSettings(merged.storageOptions ?? {}));
  return { settings: { ...merged, uri }, place: locationOf(uri, folder).uri.replace(/\/+$/, "") };
}

/** With the endpoint, because stores of the same address may be at different endpoints. */
export function displayName({ uri, storageOptions = {} }: DatabaseLocation): string {
  const [, endpoint] = Object.entries(storageOptions).find(([name]) => /endpoint(_url)?$/i.test(name)) ?? [];
  return [uri, ...(endpoint === undefined ? [] : [endpoint])]
    .map((address) => withoutSecrets(address, secretsOfAddress(address)))
    .join(" at ");
}
