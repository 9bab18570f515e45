/** The public API: step builders, type builders, the configuration, and the migrator for programs. */
export * from "./steps/index.ts";
export { after } from "./steps/after.ts";
// With a star, so that a declaration for this package adds to the interface.
export * from "./schema/typed/history.ts";
export * from "./schema/declare/index-builders.ts";
export {
  binary,
  blob,
  bool,
  date32,
  date64,
  decimal128,
  dictionary,
  duration,
  fixedSizeBinary,
  fixedSizeList,
  float16,
  float32,
  float64,
  int8,
  int16,
  int32,
  int64,
  json,
  largeBinary,
  largeList,
  largeUtf8,
  list,
  nullType,
  struct,
  time32,
  time64,
  timestamp,
  uint8,
  uint16,
  uint32,
  uint64,
  utf8,
  vector,
} from "./schema/declare/type-builders.ts";
export type { ColumnType, NullableType } from "./schema/typed/shape.ts";
export { defineSchema, table } from "./schema/declare/define-schema.ts";
export type { DeclaredIndex, DeclaredSchema, DeclaredTable } from "./schema/declare/define-schema.ts";
export type { Column, DataType } from "./schema/data-type.ts";
export type { RowValue, RowValues } from "./schema/row-values.ts";
export type { IndexKind, IndexOption, IndexType } from "./schema/table-index.ts";
export type { Step } from "./steps/registry.ts";
export type { CheckedStep, StepOn } from "./steps/define/define-step.ts";
export { defineConfig, type Config } from "./migrator/config.ts";
export type { EndedMigration, EndedRun, HookMigration, HookRun, Hooks } from "./run/hooks.ts";
export { isMigrateError, MigrateError, type ErrorCode, type Outcome } from "./errors/migrate-error.ts";
export type { Choice } from "./plan/history/pending.ts";
export { type SessionOptions } from "./session/session-options.ts";
export { createMigrator, openMigrator } from "./migrator/open-migrator.ts";
export type { Migrator } from "./migrator/migrator.ts";
export type { Baseline, BaselineChoice } from "./features/repair/baseline.ts";
export type { DownChoice, DownResult } from "./commands/down.ts";
export type { EvaluationQuery } from "./features/embed/evaluate/load-queries.ts";
export type { Rehearsal, RehearsalChoice, RehearsedMigration, RehearsedStep } from "./features/rehearse/rehearse.ts";
export type { KeptPoint, PruneChoice } from "./commands/prune.ts";
export type { Resolution, ResolveChoice } from "./features/repair/resolve/resolve.ts";
export type { RunEvent } from "./run/events.ts";
export type { UpResult } from "./commands/up.ts";
export type { UpChoice } from "./commands/up.ts";
export type { StatusResult } from "./commands/status.ts";
export type { Plan, PlannedAction, PlannedMigration } from "./plan/make-plan.ts";
export type { GroupCall, GroupedPlan, MigrationGroup } from "./plan/group/group-migrations.ts";
export type { PlanDocument } from "./plan/document/plan-document.ts";
export type { SavedPlan } from "./plan/document/saved-plan.ts";
export type { ActionRollback } from "./plan/rollback/rollback-class.ts";
export type { RollbackClass } from "./plan/rollback/rollback-classes.ts";
export type { CodeSample, StepSample } from "./run/computed.ts";
