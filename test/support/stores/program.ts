/** What a server for tests of object stores is. */

export type StorageOptions = Readonly<Record<string, string>>;

export interface StoreServer {
  /** What its URIs begin with, with the name of a bucket or container. */
  uri(bucket: string): string;
  readonly endpoint: string;
  /** For a key that may do everything. */
  readonly storageOptions: StorageOptions;
  /** For one that may only read. */
  readonly readOnly: StorageOptions;
  /** For one that the store does not know. */
  readonly unknownKey: StorageOptions;
}

/** How to start a server. */
export interface StoreProgram {
  /** Installs it if necessary. */
  install(): Promise<readonly string[]>;
  readonly env?: Readonly<Record<string, string>>;
  args(port: number): readonly string[];
  /** Makes keys and the bucket `tables`. Called when the server listens. */
  prepare(port: number): Promise<StoreServer>;
}
