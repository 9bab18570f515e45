import type { Attributes } from "@opentelemetry/api";
import type { RunEvent } from "../../run/events.ts";
import type { TelemetryApi } from "./telemetry-api.ts";

export interface RunMetrics {
  see(event: RunEvent): void;
  /** `type`: the code of the error that has ended the run. */
  end(type: string | undefined): void;
}

/** In seconds, from a rename to a backfill of hours. */
const bounds = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3_600, 14_400];

/** Measures a run from now on. Published in docs/telemetry.md. */
export function runMetrics({ metrics }: TelemetryApi, attributes: Attributes): RunMetrics {
  const meter = metrics.getMeter("lance-migrate");
  const seconds = (name: string, description: string) =>
    meter.createHistogram(name, { description, unit: "s", advice: { explicitBucketBoundaries: bounds } });
  const runs = seconds("lance_migrate.run.duration", "How long runs take, with waiting for the lease.");
  const migrations = seconds("lance_migrate.migration.duration", "How long migrations take.");
  const waits = seconds("lance_migrate.lease.wait.duration", "How long runs wait for the lease of another run.");
  const rows = meter.createCounter("lance_migrate.rows.computed", {
    description: "Rows whose values code of the project has computed.",
    unit: "{row}",
  });
  const started = performance.now();
  let waiting: number | undefined;
  const computed = new Map<string, number>();
  const recordWait = (error: Attributes) => {
    if (waiting !== undefined) waits.record((performance.now() - waiting) / 1_000, { ...attributes, ...error });
    waiting = undefined;
  };
  return {
    see(event) {
      if (event.event === "waiting") waiting ??= performance.now();
      if (event.event === "taking") recordWait({});
      if (event.event === "applied" || event.event === "reverted")
        // The duration of a group is that of all its migrations.
        migrations.record(event.duration / 1_000 / (("group" in event ? event.group : undefined) ?? 1), attributes);
      if (event.event === "computed") {
        const column = `${event.table}.${event.path ?? ""}`;
        // Counted from the beginning of the column. If it begins again, so does the count.
        const before = computed.get(column) ?? 0;
        rows.add(event.rows < before ? event.rows : event.rows - before, {
          ...attributes,
          "db.collection.name": event.table,
        });
        computed.set(column, event.rows);
      }
    },
    end(type) {
      const error = type === undefined ? {} : { "error.type": type };
      // After the wait there was nothing to do, or the run has given up.
      recordWait(error);
      runs.record((performance.now() - started) / 1_000, { ...attributes, ...error });
    },
  };
}
