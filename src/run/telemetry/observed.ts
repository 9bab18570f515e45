/** Runs as OpenTelemetry sees them: one span for the run, with the spans of its migrations and actions in it. */
import type { Attributes } from "@opentelemetry/api";
import { isMigrateError } from "../../errors/migrate-error.ts";
import type { MigratorOptions } from "../run-context.ts";
import { runMetrics } from "./metrics.ts";
import { runSpans } from "./spans.ts";
import { hasTelemetry, telemetryApi, type TelemetryApi } from "./telemetry.ts";

export type ObservedVerb = "up" | "down" | "prepare";

/** Does the work, and reports it if the options ask for that and the process has an SDK. */
export async function observed<Result>(
  operation: ObservedVerb,
  options: MigratorOptions,
  work: (options: MigratorOptions) => Promise<Result>,
): Promise<Result> {
  const api = options.telemetry === undefined || !hasTelemetry() ? undefined : telemetryApi();
  return api === undefined ? await work(options) : await observe(api, operation, options, work);
}

async function observe<Result>(
  api: TelemetryApi,
  operation: ObservedVerb,
  options: MigratorOptions,
  work: (options: MigratorOptions) => Promise<Result>,
): Promise<Result> {
  const { target, database } = options.telemetry!;
  const attributes: Attributes = {
    "db.system.name": "lancedb",
    "lance_migrate.target": target,
    ...(database !== undefined && { "lance_migrate.database": database }),
    "lance_migrate.operation": operation,
  };
  const spans = runSpans(api, `migrate ${operation}`, attributes);
  const metrics = runMetrics(api, attributes);
  const emit: MigratorOptions["emit"] = (event) => {
    spans.see(event);
    metrics.see(event);
    options.emit?.(event);
  };
  let error: unknown;
  try {
    return await api.context.with(spans.context, () => work({ ...options, emit }));
  } catch (thrown) {
    error = thrown;
    throw thrown;
  } finally {
    const type = error === undefined ? undefined : isMigrateError(error) ? error.code : "ERR_INTERNAL";
    spans.end(error, type);
    metrics.end(type);
  }
}
