/** The documents of `migrate report` as types. Durations are milliseconds. */
import type { Printed } from "../../cli/json/shared.ts";
import type { report } from "./json.ts";

type Document = Printed<typeof report>;

export type ReportDocument = Extract<Document, { readonly migrations: unknown }>;
export type ReportedMigration = ReportDocument["migrations"][number];
export type ReportedRisk = ReportedMigration["risks"][number];
export type ReportedRun = ReportDocument["runs"][number];
export type ReportedEvent = ReportedRun["events"][number];
export type ReportedDrift = ReportDocument["drift"];
export type ReportedPreparing = ReportDocument["preparing"][number];
export type ReportedVersion = ReportDocument["kept"][number];
export type NoReturn = NonNullable<ReportDocument["noReturn"]>;

/** Of all databases of a target. */
export type FleetDocument = Extract<Document, { readonly databases: unknown }>;
export type FleetDatabase = FleetDocument["databases"][number];
