/** Errors of the table service (`migrate serve`). */
import { refused, usage } from "./entry.ts";

export const serviceErrors = {
  ERR_SERVICE_DATA: usage(
    (d: { folder: string; problem: string }) => `the data folder ${d.folder} ${d.problem}; choose another with --data`,
  ),
  ERR_SERVICE_ADDRESS: usage(
    (d: { host: string; port: number; problem: string }) =>
      `the service can't listen on ${d.host}, port ${d.port}: ${d.problem}; choose others with --host and --port`,
  ),
  ERR_REQUEST: refused((d: { status: number; code: number; problem: string }) => d.problem),
  ERR_ARROW_INVALID: refused((d: { problem: string }) => `the Arrow data ${d.problem}`),
} as const;
