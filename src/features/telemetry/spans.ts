import type { Attributes, Context, Span } from "@opentelemetry/api";
import { firstLine } from "../../errors/migrate-error.ts";
import { formatMigration, type MigrationName } from "../../migrations/file-name.ts";
import { withoutKnownSecrets } from "../../secrets/redact.ts";
import type { ActionRef, RunEvent } from "../../run/events.ts";
import type { TelemetryApi } from "./telemetry-api.ts";

export interface RunSpans {
  /** In which the run's own span is the active one. */
  readonly context: Context;
  see(event: RunEvent): void;
  /** `type`: the code of the error. */
  end(error: unknown, type: string | undefined): void;
}

/** The events that begin or end a span, or that come so often that they would fill the trace. */
const without: ReadonlySet<RunEvent["event"]> = new Set([
  "taking",
  "planned",
  "started",
  "group",
  "action",
  "running",
  "computed",
  "phase",
  "done",
  "applied",
  "reverted",
  "finished",
]);

/** Starts the span of the run. `attributes`: those of all its spans. */
export function runSpans(api: TelemetryApi, name: string, attributes: Attributes): RunSpans {
  const { trace } = api;
  const tracer = trace.getTracer("lance-migrate");
  const begin = (title: string, more: Attributes, parent: Context) => {
    const span = tracer.startSpan(title, { attributes: { ...attributes, ...more } }, parent);
    return { span, context: trace.setSpan(parent, span) };
  };
  const root = begin(name, {}, parentOf(api));
  /** The migration or the group under way. */
  let unit: typeof root | undefined;
  const actions = new Map<string, Span>();

  const beginUnit = (title: string, more: Attributes) => {
    unit?.span.end();
    unit = begin(title, more, root.context);
  };
  const see = (event: RunEvent) => {
    if (event.event === "started") beginUnit(`migration ${formatMigration(event)}`, migrationAttributes(event));
    else if (event.event === "group") {
      const [first, last] = [event.migrations[0]!, event.migrations.at(-1)!].map(formatMigration);
      beginUnit(`migrations ${first} to ${last}`, { "lance_migrate.migrations": event.migrations.length });
    } else if (event.event === "action") {
      const text = withoutKnownSecrets(event.text);
      const more = { ...migrationAttributes(event), "lance_migrate.action": event.action, "db.query.text": text };
      // Again, if it is tried again.
      actions.get(keyOf(event))?.end();
      actions.set(keyOf(event), begin(titleOf(text), more, unit?.context ?? root.context).span);
    } else if (event.event === "done") {
      actions.get(keyOf(event))?.end();
      actions.delete(keyOf(event));
    } else if (event.event === "applied" || event.event === "reverted") {
      unit?.span.end();
      unit = undefined;
    } else if (!without.has(event.event)) {
      const action = "action" in event ? actions.get(keyOf(event)) : undefined;
      (action ?? unit?.span ?? root.span).addEvent(event.event, eventAttributes(event));
    }
  };
  return {
    context: root.context,
    see,
    end(error, type) {
      for (const span of [...actions.values(), ...(unit === undefined ? [] : [unit.span]), root.span]) {
        if (type !== undefined) {
          span.setAttribute("error.type", type);
          span.setStatus({ code: api.SpanStatusCode.ERROR, message: withoutKnownSecrets(firstLine(error)) });
        }
        span.end();
      }
    },
  };
}

/** The active span, else the one of the process that has started this one, by the usual variables. */
function parentOf({ context, propagation, trace }: TelemetryApi): Context {
  const active = context.active();
  if (trace.getSpan(active) !== undefined) return active;
  const { TRACEPARENT: traceparent, TRACESTATE: tracestate } = process.env;
  return propagation.extract(active, { traceparent, tracestate });
}

function keyOf({ version, action }: ActionRef): string {
  return `${version} ${action}`;
}

function migrationAttributes(migration: MigrationName): Attributes {
  return { "lance_migrate.migration": formatMigration(migration) };
}

/** The action without its details: spans of the same kind of work should have the same name. */
function titleOf(text: string): string {
  return text.split(/ \(|: /, 1)[0]!;
}

function eventAttributes(event: RunEvent): Attributes {
  const known = Object.entries(event).filter(([name, value]) => name !== "event" && value !== undefined);
  return Object.fromEntries(
    known.map(([name, value]: [string, unknown]) => [
      name,
      typeof value === "number"
        ? value
        : withoutKnownSecrets(typeof value === "string" ? value : JSON.stringify(value)),
    ]),
  );
}
