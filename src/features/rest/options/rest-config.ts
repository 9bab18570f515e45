import type { Vocabulary } from "./alter-types.ts";
import type { dialects, Operation } from "./dialects.ts";

/** The configuration of a service. */
export interface RestConfig {
  readonly kind: "rest";
  /**
   * The address of the service. `db://NAME` is LanceDB Cloud.
   *
   * @default the variable `MIGRATE_ENDPOINT`
   */
  readonly endpoint?: string | undefined;
  /**
   * The key that is sent with every request.
   *
   * @default the variable `MIGRATE_API_KEY`
   */
  readonly apiKey?: string | undefined;
  /**
   * The name of the database, if the address does not contain it.
   *
   * @default the variable `MIGRATE_DATABASE`
   */
  readonly database?: string | undefined;
  /**
   * `service`: the three documented endpoints. `namespace`: the open REST namespace, which LanceDB Cloud and Enterprise
   * also use.
   *
   * @default "service"
   */
  readonly dialect?: keyof typeof dialects | undefined;
  /**
   * With `db://NAME`: the region of the database.
   *
   * @default "us-east-1"
   */
  readonly region?: string | undefined;
  /**
   * The type names that the service expects in `alter_columns`: `lance` (`float`, `string`, `timestamp:us:UTC`), `arrow`
   * (`float32`, `utf8`), or `string` (Arrow's names as plain strings).
   *
   * @default "lance"
   */
  readonly types?: Vocabulary | undefined;
  /** Endpoints with other paths than the dialect's: `{ list: "GET /v2/tables", alter: "POST /v2/{name}/alter" }`. */
  readonly endpoints?: Readonly<Partial<Record<Operation, string>>> | undefined;
  /**
   * The header with the key.
   *
   * @default "x-api-key"
   */
  readonly keyHeader?: string | undefined;
  /**
   * The header with the name of the database.
   *
   * @default "x-service-database", in the dialect `namespace` also "x-lancedb-database"
   */
  readonly databaseHeader?: string | undefined;
  /** Further headers to send with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** A file of PEM certificates to trust in addition to Node's own. */
  readonly ca?: string | undefined;
  /**
   * How long to wait for a connection.
   *
   * @default 10
   */
  readonly connectSeconds?: number | undefined;
  /**
   * How long to wait for an answer. A request that only reads is given up after 60 seconds and repeated.
   *
   * @default 300
   */
  readonly answerSeconds?: number | undefined;
}
