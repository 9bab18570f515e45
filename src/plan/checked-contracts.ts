/** The contracts that a plan was checked against. */
export interface CheckedContracts {
  readonly releases: readonly CheckedRelease[];
  /** What protects nothing, as text. */
  readonly notes: readonly string[];
}

export interface CheckedRelease {
  readonly application: string;
  readonly release: string;
  /** The file of its contract. */
  readonly file: string;
}
