/** Routes for background jobs. This service has none: everything is done when its request is answered. */
import { z } from "zod";
import { refuse } from "../tables/error-answer.ts";
import { ignored, json } from "./fields.ts";
import { routesOf, text } from "./route.ts";

const { route } = routesOf("jobs");

export const jobRoutes = [
  route({
    path: "/v1/jobs/list",
    summary: "The jobs: there are none",
    body: json({}, { page_token: ignored }),
    answer: z.object({ jobs: z.array(z.looseObject({})) }),
    handler: async () => ({ jobs: [] }),
  }),
  ...["describe", "cancel", "pause", "resume"].map((operation) =>
    route({
      path: `/v1/jobs/${operation}`,
      summary: "Answers 404: there are no jobs",
      body: json({ job_id: text }),
      handler: ({ body }) => Promise.reject(refuse(404, "unsupported", `Job '${body.job_id}' was not found`)),
    }),
  ),
];
