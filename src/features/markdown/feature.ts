import type { Feature } from "../../cli/command/feature.ts";

/** Plans as Markdown, for comments on pull requests. */
export const markdown: Feature = {
  extensions: { plan: async () => (await import("./plan-format.ts")).planFormat },
};
