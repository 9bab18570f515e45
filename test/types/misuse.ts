/** What the compiler has to refuse: each directive is an error of its own when the line below it compiles. */
import {
  alterColumns,
  createTable,
  decimal128,
  defineConfig,
  dictionary,
  duration,
  fixedSizeBinary,
  fixedSizeList,
  float16,
  int8,
  int64,
  list,
  renameColumn,
  retypeColumn,
  setNullable,
  struct,
  time32,
  time64,
  timestamp,
  utf8,
  vector,
  type ColumnType,
  type Step,
} from "lance-migrate";

// Types
// @ts-expect-error a unit of the wrong name
timestamp("xs");
// @ts-expect-error a zone is a name
timestamp("us", 1);
// @ts-expect-error microseconds do not fit into 32 bits
time32("us");
// @ts-expect-error seconds are no unit of 64 bits
time64("s");
// @ts-expect-error a duration needs a unit
duration();
// @ts-expect-error a decimal needs a scale
decimal128(10);
// @ts-expect-error a length is a number
fixedSizeBinary("4");
// @ts-expect-error a vector needs a length
vector();
// @ts-expect-error the length comes first
vector(float16(), 4);
// @ts-expect-error the engine keeps the items of a vector nullable
vector(4, float16().notNull());
// @ts-expect-error the engine keeps the items of a fixed size list nullable
fixedSizeList(int8().notNull(), 4);
// @ts-expect-error a list needs a type
list();
// @ts-expect-error a builder must be called
list(int8);
// @ts-expect-error a type is no text
struct({ x: "int8" });
// @ts-expect-error a field's builder must be called
struct({ x: int8 });
// @ts-expect-error nullability has no place in an index
dictionary(int8().notNull(), utf8());
// @ts-expect-error a dictionary needs its values' type
dictionary(int8());
// @ts-expect-error not null twice
int8().notNull().notNull();
// @ts-expect-error int8 takes nothing
int8(4);

// Steps
// @ts-expect-error a table needs columns
createTable("t");
// @ts-expect-error a column is no text
createTable("t", { id: "int8" });
// @ts-expect-error columns are an object
createTable("t", [int8()]);
// @ts-expect-error a column's builder must be called
createTable("t", { id: int8 });
// @ts-expect-error a name is a text
createTable(5, { id: int8() });
// @ts-expect-error a rename needs the new name
renameColumn("t", "a");
// @ts-expect-error a path is a text
renameColumn("t", ["a", "b"], "c");
// @ts-expect-error a retype needs a type
retypeColumn("t", "a");
// @ts-expect-error a type is no text
retypeColumn("t", "a", "int64");
// @ts-expect-error not null is a step of its own
retypeColumn("t", "a", int64().notNull());
// @ts-expect-error a builder must be called
retypeColumn("t", "a", int64);
// @ts-expect-error what it is to be must be said
setNullable("t", "a");
// @ts-expect-error a text is no boolean
setNullable("t", "a", "false");
// @ts-expect-error changes are a list
alterColumns("t", { path: "a", rename: "b" });
// @ts-expect-error an entry changes something
alterColumns("t", [{ path: "a" }]);
// @ts-expect-error an entry has a path
alterColumns("t", [{ rename: "b" }]);
// @ts-expect-error not null is an entry's nullable: false
alterColumns("t", [{ path: "a", type: int64().notNull() }]);
// @ts-expect-error a misspelt change
alterColumns("t", [{ path: "a", renam: "b" }]);
// @ts-expect-error a misspelt change beside a right one
alterColumns("t", [{ path: "a", rename: "b", nulable: true }]);

// Migrations and what they hold
const step = renameColumn("t", "a", "b");
// @ts-expect-error a step is data that does not change
step.name = "c";
// @ts-expect-error a text is no step
export const text: readonly Step[] = ["rename a to b"];
// @ts-expect-error a step of a kind that there is not
export const unknownKind: Step = { kind: "renameColum", table: "t", path: "a", name: "b" };
// @ts-expect-error a step without one of its parts
export const incomplete: Step = { kind: "renameColumn", table: "t", path: "a" };
// @ts-expect-error a builder that was not called
export const uncalled: readonly Step[] = [renameColumn];
// @ts-expect-error a step with parts of another kind
export const mixed: Step = { kind: "setNullable", table: "t", path: "a", name: "b" };

// Configuration
// @ts-expect-error a target of a kind that there is not
defineConfig({ targets: { local: { kind: "lanse", uri: ".lancedb" } } });
// @ts-expect-error a target without its address
defineConfig({ targets: { local: { kind: "lance" } } });
// @ts-expect-error a misspelt option
defineConfig({ migration: "migrations" });
// @ts-expect-error a rule that there is not
defineConfig({ lint: { rules: { "full-rewrit": "off" } } });

// @ts-expect-error a column type is not made by hand from a text
export const byHand: ColumnType = { type: "int32", nullable: true };
