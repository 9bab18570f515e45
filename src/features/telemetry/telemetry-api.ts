/** OpenTelemetry's API, if this process has registered an SDK. */
import { join } from "node:path";
import type * as OpenTelemetry from "@opentelemetry/api";
import { findPackage, projectFolder } from "../../engine/package/installed-packages.ts";
import { ownModule, requireHere } from "../../engine/package/own-module.ts";

export type TelemetryApi = typeof OpenTelemetry;

const api = "@opentelemetry/api";

/**
 * Where the API keeps what an SDK has registered. It is looked at first, because without an SDK the API does nothing, and
 * loading it takes longer than a run with nothing pending. The engine brings the API along, so it is always there.
 */
const registered = Symbol.for("opentelemetry.js.api.1");

export function hasTelemetry(): boolean {
  return registered in globalThis;
}

/** Any copy of the API does: they share what is registered. Undefined if there is no SDK, or no copy. */
export function telemetryApi(): TelemetryApi | undefined {
  if (!hasTelemetry()) return undefined;
  const path = findPackage(api, join(projectFolder(), "package.json")) ?? findPackage(api, ownModule);
  return path === undefined ? undefined : (requireHere(path) as TelemetryApi);
}
