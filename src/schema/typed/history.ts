/**
 * The tables after each migration, as types. The history.d.ts that `migrate types` writes adds the members of these
 * interfaces, which are empty if nothing was generated. They state what changes, so that the file grows with the changes.
 */

/**
 * Each version with the one before it: `"0008": "0007"`. Some refer to an earlier version instead, with the tables that
 * were changed since and the versions of their forms: `"0016": ["0000", { documents: "0013" }]`. So no chain gets long.
 */
export interface History {}

/** The versions that create or drop tables, with the names of these tables: `"0009": { notes: true, documents: null }`. */
export interface TableNames {}

/**
 * The forms of each table, by the version that led to them: its columns, null if it is gone, or an earlier form and the
 * columns that differ from it, null for one that is gone: `"0003": ["0002", { title: null; headline: "utf8" }]`.
 */
export interface TableHistory {}
