/** What this tool assumes of the engine. A new assumption is a probe in one of these files and a line here. */
import * as changes from "./changes.ts";
import type { Probe } from "./probe.ts";
import * as tables from "./tables.ts";
import * as versions from "./versions.ts";
import * as writers from "./writers.ts";

/** An error names the first that fails. */
export const probes: readonly Probe[] = [
  tables.nativeMethods,
  tables.missingTable,
  tables.takenName,
  tables.movedTable,
  tables.manifestFiles,
  tables.orderedRead,
  tables.clones,
  writers.oneInsert,
  writers.fence,
  writers.lateAppend,
  writers.lateNull,
  changes.columnChanges,
  changes.refusedCasts,
  changes.nullStructs,
  changes.structFields,
  changes.computedColumns,
  changes.lastValues,
  changes.expressions,
  changes.conditionalMerge,
  versions.keptVersion,
  versions.restore,
  versions.compaction,
  versions.indexes,
];
