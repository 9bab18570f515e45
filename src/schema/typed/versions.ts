/**
 * Finds the tables after a version in what history.d.ts states. A recursive type with a generic version is expanded for
 * every existing version. So these types go from version to version through members, which TypeScript computes only when they are
 * needed, and once.
 */
import type { History, TableHistory, TableNames } from "./history.ts";

/** The tables after a version; `unknown` if there is no such version, or an older release has written the file. */
export type DatabaseAfter<Version> = Version extends keyof History
  ? History[Version] extends string | readonly unknown[] | null
    ? DatabaseOf<Version, NamesByVersion>
    : unknown
  : unknown;

// The columns of a table are computed only when a step names the table. `All` is always `Names`: named here, it would be
// computed for all versions.
type DatabaseOf<Version, All> = {
  [Table in MemberOf<All, Version> & string]: {
    columns: ColumnsOfForm<MemberOf<TableHistory, Table>, FormAt<Table, Version>>;
  };
};

/** The names of all tables. */
type NamesByVersion = { [Version in keyof History]: NamesAfter<Version, History[Version]> };

type NamesAfter<Version, Before> = Before extends keyof History
  ? Version extends keyof TableNames
    ? Exclude<NamesByVersion[Before], keyof TableNames[Version]> | Kept<TableNames[Version]>
    : NamesByVersion[Before]
  : Before extends readonly [infer Earlier extends keyof History, infer Forms]
    ? Exclude<NamesByVersion[Earlier], keyof Forms> | Kept<ChangedTo<Forms>>
    : never;

type ChangedTo<Forms> = { [Table in keyof Forms]: MemberOf<MemberOf<TableHistory, Table>, Forms[Table]> };

type MemberOf<All, Name> = Name extends keyof All ? All[Name] : null;

/** The version of the form that a table has after a version; null if it was not created yet. */
type FormAt<Table, Version> = Version extends keyof MemberOf<TableHistory, Table>
  ? Version
  : Version extends keyof History
    ? History[Version] extends readonly [infer Earlier, infer Forms]
      ? Table extends keyof Forms
        ? Forms[Table]
        : FormAt<Table, Earlier>
      : FormAt<Table, History[Version]>
    : null;

type ColumnsOfForm<Forms, Version> =
  MemberOf<Forms, Version> extends readonly [infer Earlier, infer Changes]
    ? Changed<ColumnsOfForm<Forms, Earlier>, Changes>
    : MemberOf<Forms, Version>;

type Changed<Columns, Changes> = {
  [Name in Exclude<keyof Columns, keyof Changes> | Kept<Changes>]: Name extends keyof Changes
    ? Changes[Name]
    : Columns[Name & keyof Columns];
};

/** The names of the members that are not null. */
type Kept<Members> = { [Name in keyof Members]: Members[Name] extends null ? never : Name }[keyof Members];
