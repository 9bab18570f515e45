import type { Feature } from "../../cli/command/feature.ts";
import { hasTelemetry } from "./telemetry-api.ts";

/** Runs are reported to OpenTelemetry, if this process has registered an SDK. Without one, nothing is loaded. */
export const telemetry: Feature = {
  listen: async (run) => (hasTelemetry() ? (await import("./run-listener.ts")).runListener(run) : undefined),
  async ending(output) {
    if (hasTelemetry()) await (await import("./send-telemetry.ts")).sendTelemetry(output);
  },
};
