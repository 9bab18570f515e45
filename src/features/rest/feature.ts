import type { Feature } from "../../cli/command/feature.ts";

/** Targets that are services over HTTP. */
export const rest: Feature = { targets: { rest: () => import("./rest.ts") } };
