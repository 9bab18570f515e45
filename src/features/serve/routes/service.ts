/** Routes about the service itself, which it answers without a worker. */
import { z } from "zod";
import { anything, type DescribedRoute } from "./route.ts";

export interface ServiceRoute extends DescribedRoute {
  /** Whether it needs no key. */
  readonly isOpen: boolean;
  /** Gives the answer from the OpenAPI document of all routes. */
  readonly answerFrom: (document: () => object) => object;
}

const common = { method: "GET", group: "service", accepts: "nothing", query: anything, body: z.unknown() } as const;

export const serviceRoutes: readonly ServiceRoute[] = [
  {
    ...common,
    path: "/healthz",
    summary: "Whether the service is up; needs no key",
    isOpen: true,
    answer: z.object({ status: z.literal("ok") }),
    answerFrom: () => ({ status: "ok" }),
  },
  {
    ...common,
    path: "/openapi.json",
    summary: "This document",
    isOpen: false,
    answer: anything,
    answerFrom: (document) => document(),
  },
];
