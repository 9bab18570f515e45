/**
 * The catalogue of errors. To add an error, add an entry to one of its parts: the code, the outcome (which decides the
 * exit code) and the sentence. The sentence names the thing, the place and, if there is one, the remedy.
 */
import { usageErrors } from "./usage.ts";
import { filesErrors } from "./files.ts";
import { stepsErrors } from "./steps.ts";
import { planErrors } from "./plan.ts";
import { rollbackErrors } from "./rollback.ts";
import { historyErrors } from "./history.ts";
import { adoptingErrors } from "./adopting.ts";
import { repairErrors } from "./repair.ts";
import { runningErrors } from "./running.ts";
import { serviceErrors } from "./service.ts";

export const catalogue = {
  ...usageErrors,
  ...filesErrors,
  ...stepsErrors,
  ...rollbackErrors,
  ...planErrors,
  ...historyErrors,
  ...repairErrors,
  ...adoptingErrors,
  ...runningErrors,
  ...serviceErrors,
} as const;
