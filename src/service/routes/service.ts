/** Routes about the service itself. */
import { z } from "zod";
import { routesOf } from "./route.ts";

const { route } = routesOf("service");

export const serviceRoutes = [
  route({
    method: "GET",
    path: "/healthz",
    summary: "Whether the service is up; needs no key",
    open: true,
    answer: z.object({ status: z.literal("ok") }),
    handler: async () => ({ status: "ok" }),
  }),
  route({
    method: "GET",
    path: "/openapi.json",
    summary: "This document",
    handler: async ({ document }) => document(),
  }),
];
