/** Runs as OpenTelemetry sees them: one span for the run, with the spans of its migrations and actions in it. */
import type { Attributes } from "@opentelemetry/api";
import { isMigrateError } from "../../errors/migrate-error.ts";
import type { ObservedRun, RunListener } from "../../run/observed.ts";
import { runMetrics } from "./metrics.ts";
import { runSpans } from "./spans.ts";
import { telemetryApi } from "./telemetry-api.ts";

/** Reports one run, which begins now. Undefined without a copy of the API. */
export function runListener({ operation, target, database }: ObservedRun): RunListener | undefined {
  const api = telemetryApi();
  if (api === undefined) return undefined;
  const attributes: Attributes = {
    "db.system.name": "lancedb",
    "lance_migrate.target": target,
    ...(database !== undefined && { "lance_migrate.database": database }),
    "lance_migrate.operation": operation,
  };
  const spans = runSpans(api, `migrate ${operation}`, attributes);
  const metrics = runMetrics(api, attributes);
  return {
    see(event) {
      spans.see(event);
      metrics.see(event);
    },
    async around(work) {
      let error: unknown;
      try {
        return await api.context.with(spans.context, work);
      } catch (thrown) {
        error = thrown;
        throw thrown;
      } finally {
        const type = error === undefined ? undefined : isMigrateError(error) ? error.code : "ERR_INTERNAL";
        spans.end(error, type);
        metrics.end(type);
      }
    },
  };
}
