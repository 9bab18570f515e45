/** The tables after each migration, by version. The history.d.ts that `migrate types` writes adds them. */
// An interface, because only an interface can be extended from outside. It is empty if nothing was generated.
export interface History {}
