/** The commands, in the order in which --help shows them. Each is loaded when it is needed. */
import type { Command } from "../command/command.ts";

const loaders = {
  up: async () => (await import("./up.ts")).upCommand,
  down: async () => (await import("./down.ts")).downCommand,
  status: async () => (await import("./status.ts")).statusCommand,
  plan: async () => (await import("./plan.ts")).planCommand,
  prepare: async () => (await import("./prepare.ts")).prepareCommand,
  rehearse: async () => (await import("./rehearse.ts")).rehearseCommand,
  history: async () => (await import("./history.ts")).historyCommand,
  verify: async () => (await import("./verify.ts")).verifyCommand,
  repair: async () => (await import("./repair.ts")).repairCommand,
  resolve: async () => (await import("./resolve.ts")).resolveCommand,
  prune: async () => (await import("./prune.ts")).pruneCommand,
  lint: async () => (await import("./lint.ts")).lintCommand,
  new: async () => (await import("./new.ts")).newCommand,
  generate: async () => (await import("./generate.ts")).generateCommand,
  pull: async () => (await import("./pull.ts")).pullCommand,
  baseline: async () => (await import("./baseline.ts")).baselineCommand,
  build: async () => (await import("./build.ts")).buildCommand,
  types: async () => (await import("./types.ts")).typesCommand,
  rebase: async () => (await import("./rebase.ts")).rebaseCommand,
  squash: async () => (await import("./squash.ts")).squashCommand,
  serve: async () => (await import("./serve.ts")).serveCommand,
  doctor: async () => (await import("./doctor.ts")).doctorCommand,
} satisfies Readonly<Record<string, () => Promise<Command>>>;

export const commandNames = Object.keys(loaders) as readonly (keyof typeof loaders)[];

/** The command of this name; undefined if there is none. */
export async function loadCommand(name: string): Promise<Command | undefined> {
  return Object.hasOwn(loaders, name) ? await loaders[name as keyof typeof loaders]() : undefined;
}

export async function loadCommands(): Promise<readonly Command[]> {
  return await Promise.all(Object.values(loaders).map(async (load) => await load()));
}
