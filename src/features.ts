/** Whatever is not needed to apply migrations and to roll them back. One line for each, and nothing below knows them. */
export { report } from "./features/report/feature.ts";
export { serve } from "./features/serve/feature.ts";
