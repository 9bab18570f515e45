import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { expect, test } from "vitest";
import type { RunEvent } from "../../../../src/run/events.ts";
import { runMetrics } from "../../../../src/features/telemetry/metrics.ts";
import type { TelemetryApi } from "../../../../src/features/telemetry/telemetry-api.ts";

const waiting: RunEvent = { event: "waiting", by: "ci@runner", lease: 30_000 };
interface Measured {
  readonly count: number;
  readonly sum: number;
}

/** What a run with these events measures under this name, in the order in which it measures it. */
async function measuredOf(
  name: string,
  events: readonly RunEvent[],
  type?: string,
): Promise<readonly { readonly attributes: object; readonly value: Measured }[]> {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const provider = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter })] });
  const metrics = runMetrics({ metrics: provider } as unknown as TelemetryApi, { target: "local" });
  for (const event of events) metrics.see(event);
  metrics.end(type);
  await provider.forceFlush();
  const measured = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((one) => one.metrics));
  const found = measured.find((one) => one.descriptor.name === name);
  await provider.shutdown();
  return (found?.dataPoints ?? []).map(({ attributes, value }) => ({ attributes, value: value as Measured }));
}

test.each([
  ["that gets the lease", [waiting, waiting, { event: "taking" }], undefined, [{ target: "local", count: 1 }]],
  ["that has nothing to do after its wait", [waiting], undefined, [{ target: "local", count: 1 }]],
  ["that gives up", [waiting], "ERR_LEASE_HELD", [{ target: "local", "error.type": "ERR_LEASE_HELD", count: 1 }]],
  ["that fails with the lease", [waiting, { event: "taking" }], "ERR_STEP_FAILED", [{ target: "local", count: 1 }]],
  ["that waits for nobody", [{ event: "taking" }], undefined, []],
] as const)("the wait of a run %s", async (_, events, type, waits) => {
  const measured = await measuredOf("lance_migrate.lease.wait.duration", events, type);
  expect(measured.map(({ attributes, value: { count } }) => ({ ...attributes, count }))).toEqual(waits);
});

test("a migration that is rolled back is measured, and no other event", async () => {
  const reverted = { event: "reverted", version: 1, name: "one", duration: 6_000 } as RunEvent;
  const measured = await measuredOf("lance_migrate.migration.duration", [{ event: "taking" }, reverted]);
  expect(measured).toMatchObject([{ value: { count: 1, sum: 6 } }]);
});

test("the migrations of a group share its duration, and one alone has its own", async () => {
  const applied = { event: "applied", version: 1, name: "one", duration: 6_000 } as const;
  const alone = await measuredOf("lance_migrate.migration.duration", [applied as RunEvent]);
  expect(alone.map(({ value }) => value.sum)).toEqual([6]);
  const three = [1, 2, 3].map(() => ({ ...applied, group: 3 }) as RunEvent);
  const grouped = await measuredOf("lance_migrate.migration.duration", three);
  expect(grouped).toMatchObject([{ value: { count: 3, sum: 6 } }]);
});
