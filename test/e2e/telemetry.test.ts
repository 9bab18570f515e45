/**
 * Spans and metrics of runs, sent by OpenTelemetry's SDK. A receiver that decodes them by the official definition needs
 * packages of Python.
 */
import { spawn } from "node:child_process";
import { symlinkSync } from "node:fs";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { pythonWith } from "../clients/client.ts";
import { allBlocks } from "../docs/blocks.ts";
import { serve } from "../rest/servers.ts";
import { lacks } from "../support/needs.ts";
import { aProject, root, type Project } from "../support/project.ts";

type Value = { readonly stringValue?: string; readonly intValue?: string; readonly doubleValue?: number };
type Attributes = readonly { readonly key: string; readonly value: Value }[];

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: Attributes;
  readonly events?: readonly { readonly name: string; readonly attributes: Attributes }[];
  readonly status?: { readonly code?: string; readonly message?: string };
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
}

interface Point {
  readonly attributes: Attributes;
  readonly count?: string;
  readonly asDouble?: number;
  readonly asInt?: string;
}

interface Metric {
  readonly name: string;
  readonly unit: string;
  readonly histogram?: { readonly dataPoints: readonly Point[] };
  readonly sum?: { readonly dataPoints: readonly Point[] };
}

interface Received {
  readonly resourceSpans?: readonly { readonly scopeSpans: readonly { readonly spans: readonly Span[] }[] }[];
  readonly resourceMetrics?: readonly { readonly scopeMetrics: readonly { readonly metrics: readonly Metric[] }[] }[];
}

/** Registers an SDK, as `node --import` loads it. */
const setup = `
import { createRequire } from "node:module";
const require = createRequire(${JSON.stringify(join(root, "package.json"))});
const { context, metrics, propagation, trace } = require("@opentelemetry/api");
const { AsyncLocalStorageContextManager } = require("@opentelemetry/context-async-hooks");
const { W3CTraceContextPropagator } = require("@opentelemetry/core");
const { BatchSpanProcessor, TracerProvider } = require("@opentelemetry/sdk-trace");
const { OTLPTraceExporter } = require("@opentelemetry/exporter-trace-otlp-http");
const { MeterProvider, PeriodicExportingMetricReader } = require("@opentelemetry/sdk-metrics");
const { OTLPMetricExporter } = require("@opentelemetry/exporter-metrics-otlp-http");
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
propagation.setGlobalPropagator(new W3CTraceContextPropagator());
trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })] }));
metrics.setGlobalMeterProvider(
  new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter: new OTLPMetricExporter() })] }),
);
`;

interface Receiver {
  readonly env: Readonly<Record<string, string>>;
  /** What has come in since the last call, when that includes the span and the metrics of a run. */
  take(): Promise<{ readonly spans: readonly Span[]; readonly metrics: readonly Metric[] }>;
}

async function startReceiver(): Promise<Receiver> {
  const python = pythonWith("opentelemetry-proto==1.45.2");
  const child = spawn(python, [join(root, "test/support/otlp-receiver.py")], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill());
  const lines = createInterface({ input: child.stdout });
  let received: Received[] = [];
  const port = await new Promise<string>((done) => lines.once("line", done));
  lines.on("line", (line) => received.push(JSON.parse(line) as Received));
  return {
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, NODE_OPTIONS: "--import ./telemetry.mjs" },
    async take() {
      await expect.poll(() => received.filter((one) => one.resourceMetrics).length).toBe(1);
      await expect.poll(() => received.filter((one) => one.resourceSpans).length).toBe(1);
      const all = received;
      received = [];
      const spans = all.flatMap((one) => one.resourceSpans ?? []).flatMap(({ scopeSpans }) => scopeSpans);
      const metrics = all.flatMap((one) => one.resourceMetrics ?? []).flatMap(({ scopeMetrics }) => scopeMetrics);
      return { spans: spans.flatMap((one) => one.spans), metrics: metrics.flatMap((one) => one.metrics) };
    },
  };
}

function aScene(): Project {
  const project = aProject("own");
  project.write("telemetry.mjs", setup);
  project.migration("0001_documents.ts", `m.createTable("documents", { id: m.int32(), title: m.utf8() })`);
  project.migration(
    "0002_headline.ts",
    `m.renameColumn("documents", "title", "headline"), m.addColumn("documents", "n", m.int32())`,
  );
  return project;
}

function valuesOf(attributes: Attributes): Readonly<Record<string, unknown>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

/** The names of the spans, as a tree. */
function treeOf(spans: readonly Span[], parent?: string): readonly unknown[] {
  return spans
    .filter(({ parentSpanId }) => parentSpanId === parent)
    .toSorted((one, other) => Number(BigInt(one.startTimeUnixNano) - BigInt(other.startTimeUnixNano)))
    .map(({ name, spanId }) => {
      const within = treeOf(spans, spanId);
      return within.length === 0 ? name : [name, within];
    });
}

test.skipIf(lacks("python"))(
  "spans and metrics of up and down reach a receiver, also those of a failed run",
  async () => {
    const receiver = await startReceiver();
    const project = aScene();
    const up = await project.migrate(["up", "--step-by-step"], receiver.env);
    expect(up).toMatchObject({ code: 0, stderr: expect.not.stringContaining("telemetry") as string });
    const { spans, metrics } = await receiver.take();
    expect(treeOf(spans)).toEqual([
      [
        "migrate up",
        [
          ["migration 0001_documents", ["create table documents"]],
          ["migration 0002_headline", ["rename documents.title to headline", "add documents.n int32"]],
        ],
      ],
    ]);
    for (const span of spans) expect(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano)).toBe(true);
    const common = { "db.system.name": "lancedb", "lance_migrate.target": "local", "lance_migrate.operation": "up" };
    expect(valuesOf(spans.find(({ name }) => name === "migrate up")!.attributes)).toEqual(common);
    expect(valuesOf(spans.find(({ name }) => name === "create table documents")!.attributes)).toEqual({
      ...common,
      "lance_migrate.migration": "0001_documents",
      "lance_migrate.action": "1",
      "db.query.text": "create table documents (id int32, title utf8)",
    });
    const migrations = metrics.find(({ name }) => name === "lance_migrate.migration.duration")!;
    expect(migrations).toMatchObject({ unit: "s", histogram: { dataPoints: [{ count: "2" }] } });
    expect(metrics.find(({ name }) => name === "lance_migrate.run.duration")).toMatchObject({
      histogram: { dataPoints: [{ count: "1" }] },
    });

    // A parent from the environment, and an error.
    project.write(
      "migrations/0003_wrong.ts",
      `import * as m from "lance-migrate"; export const up = [m.dropColumn("documents", "gone")];`,
    );
    const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    expect(await project.migrate(["up"], { ...receiver.env, TRACEPARENT })).toMatchObject({ code: 4 });
    const [failed] = (await receiver.take()).spans;
    const hex = (base64: string) => Buffer.from(base64, "base64").toString("hex");
    expect(failed).toMatchObject({
      name: "migrate up",
      status: { code: "STATUS_CODE_ERROR", message: expect.stringContaining("gone") as string },
    });
    expect(valuesOf(failed!.attributes)).toMatchObject({ "error.type": "ERR_STEP_IMPOSSIBLE" });
    expect([hex(failed!.traceId), hex(failed!.parentSpanId!)]).toEqual(TRACEPARENT.split("-").slice(1, 3));
  },
);

test.each([
  ["the configuration imports", {}],
  ["Node imports", { NODE_OPTIONS: "--import ./telemetry.ts" }],
] as const)("the documentation's SDK, which %s, sends spans and no metrics", async (_, env) => {
  const { url, seen } = await serve((response) => response.setHeader("content-type", "application/json").end("{}"));
  // An SDK that a configuration registers stays in its process.
  const project = aProject("own");
  symlinkSync(join(root, "node_modules/@opentelemetry"), join(project.folder, "node_modules/@opentelemetry"));
  const isConfiguration = Object.keys(env).length === 0;
  const blocks = allBlocks().filter(({ page, file }) => page === "docs/telemetry.md" && file !== undefined);
  expect(blocks.map(({ file }) => file)).toEqual(["telemetry.ts", "migrate.config.ts"]);
  for (const { file, text } of blocks) if (file === "telemetry.ts" || isConfiguration) project.write(file!, text);
  project.migration("0001_documents.ts", `m.createTable("documents", { id: m.int32() })`);
  const [traceId, parent] = ["0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"];
  const TRACEPARENT = `00-${traceId}-${parent}-01`;
  const variables = { ...env, OTEL_EXPORTER_OTLP_ENDPOINT: url, TRACEPARENT };
  expect(await project.migrate(["up"], variables)).toMatchObject({ code: 0 });
  expect(seen.map(({ path }) => path)).toEqual(["/v1/traces"]);
  const { resourceSpans } = JSON.parse(seen[0]!.body.toString()) as Required<Received>;
  const spans = resourceSpans.flatMap(({ scopeSpans }) => scopeSpans).flatMap((one) => one.spans);
  expect(treeOf(spans, parent)).toEqual([["migrate up", [["migration 0001_documents", ["create table documents"]]]]]);
  expect(new Set(spans.map((span) => span.traceId))).toEqual(new Set([traceId]));
});

test("a receiver that can't be reached changes nothing but a note", async () => {
  const project = aScene();
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9", NODE_OPTIONS: "--import ./telemetry.mjs" };
  const { code, stdout } = await project.migrate(["up"], env);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("2 migrations applied") as string });
});

test("without an SDK, the API is not loaded", async () => {
  const project = aScene();
  const loaded = `import { createRequire, registerHooks } from "node:module";
import { appendFileSync } from "node:fs";
registerHooks({ load(url, context, next) { if (url.includes("opentelemetry")) appendFileSync("loaded", url + "\\n"); return next(url, context); } });
`;
  project.write("watch.mjs", loaded);
  // Resolved from the project, as if the application had it.
  project.write("migrate.config.ts", `export default {};`);
  expect(await project.migrate(["up"], { NODE_OPTIONS: "--import ./watch.mjs" })).toMatchObject({ code: 0 });
  const { existsSync, readFileSync } = await import("node:fs");
  const file = join(project.folder, "loaded");
  expect(existsSync(file) ? readFileSync(file, "utf8") : "").not.toContain("@opentelemetry/api");
});
