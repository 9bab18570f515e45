import type { Output } from "../../cli/command/output.ts";
import { firstLine } from "../../errors/migrate-error.ts";
import { telemetryApi } from "./telemetry-api.ts";

/** Milliseconds. */
const flushLimit = 5_000;

/** What an SDK has collected would be lost with the process. */
export async function sendTelemetry(output: Output): Promise<void> {
  try {
    await flush();
  } catch (error) {
    // The SDK may throw a list of errors.
    output.problem(`note: telemetry could not be sent: ${firstLine([error].flat()[0])}`);
  }
}

interface Flushable {
  getDelegate?(): Flushable;
  forceFlush?(): Promise<void>;
}

/** Throws what the SDK throws, and after `flushLimit`. */
async function flush(): Promise<void> {
  const { trace, metrics } = telemetryApi() ?? {};
  const providers = [trace?.getTracerProvider(), metrics?.getMeterProvider()] as (Flushable | undefined)[];
  const flushing = Promise.all(providers.map((one) => (one?.getDelegate?.() ?? one)?.forceFlush?.()));
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no answer in ${flushLimit / 1_000} s`)), flushLimit);
  try {
    await Promise.race([flushing, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
