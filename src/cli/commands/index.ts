/** The commands, in the order in which --help shows them. */
import type { Command } from "../command/command.ts";
import { baselineCommand } from "./baseline.ts";
import { downCommand } from "./down.ts";
import { doctorCommand } from "./doctor.ts";
import { generateCommand } from "./generate.ts";
import { historyCommand } from "./history.ts";
import { lintCommand } from "./lint.ts";
import { newCommand } from "./new.ts";
import { planCommand } from "./plan.ts";
import { pruneCommand } from "./prune.ts";
import { pullCommand } from "./pull.ts";
import { resolveCommand } from "./resolve.ts";
import { rebaseCommand } from "./rebase.ts";
import { rehearseCommand } from "./rehearse.ts";
import { repairCommand } from "./repair.ts";
import { serveCommand } from "./serve.ts";
import { squashCommand } from "./squash.ts";
import { statusCommand } from "./status.ts";
import { typesCommand } from "./types.ts";
import { upCommand } from "./up.ts";
import { verifyCommand } from "./verify.ts";

export const commands: readonly Command[] = [
  upCommand,
  downCommand,
  statusCommand,
  planCommand,
  rehearseCommand,
  historyCommand,
  verifyCommand,
  repairCommand,
  resolveCommand,
  pruneCommand,
  lintCommand,
  newCommand,
  generateCommand,
  pullCommand,
  baselineCommand,
  typesCommand,
  rebaseCommand,
  squashCommand,
  serveCommand,
  doctorCommand,
];
