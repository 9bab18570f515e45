/** How the tables in memory are asked: a network in between may lose a request or its answer. */
import type { Action } from "../../../src/actions/model/action.ts";

/** As which target it answers. */
export const models = ["embedded", "namespace", "service"] as const;

export type Model = (typeof models)[number];

/** Something asked of the tables. */
export interface Request<Result> extends RequestKind {
  /** In words, for a trace. */
  readonly what: string;
  /** The action that it carries out. */
  readonly action?: Action | undefined;
  /** It reaches the tables, and gives what ends it there: in between others may come. */
  readonly arrive: () => () => Result;
}

export interface RequestKind {
  /** It changes what is kept of tables. */
  readonly changes?: boolean | undefined;
  /** It writes to the ledger. */
  readonly records?: boolean | undefined;
}

/** Carries a request to the tables and the answer back, or an error. */
export type Carry = <Result>(request: Request<Result>) => Promise<Result>;
