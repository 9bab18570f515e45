/** Filled by the history.d.ts that `migrate types` writes: the tables after each migration, by its version. */
// An interface, as only that is added to from outside; it is empty where nothing was generated.
export interface History {}
