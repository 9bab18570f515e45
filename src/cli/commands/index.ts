/** The commands by group, in the order in which --help shows them. Each is loaded when it is needed. */
import type { Command } from "../command/command.ts";

const groups = {
  "Write migrations": {
    init: async () => (await import("./init.ts")).initCommand,
    new: async () => (await import("./new.ts")).newCommand,
    generate: async () => (await import("./generate.ts")).generateCommand,
    push: async () => (await import("./push.ts")).pushCommand,
    types: async () => (await import("./types.ts")).typesCommand,
    contract: async () => (await import("./contract.ts")).contractCommand,
    build: async () => (await import("./build.ts")).buildCommand,
  },
  "Apply and roll back": {
    plan: async () => (await import("./plan.ts")).planCommand,
    up: async () => (await import("./up.ts")).upCommand,
    down: async () => (await import("./down.ts")).downCommand,
    rehearse: async () => (await import("./rehearse.ts")).rehearseCommand,
    prepare: async () => (await import("./prepare.ts")).prepareCommand,
    prune: async () => (await import("./prune.ts")).pruneCommand,
  },
  Inspect: {
    status: async () => (await import("./status.ts")).statusCommand,
    history: async () => (await import("./history.ts")).historyCommand,
    blame: async () => (await import("./blame.ts")).blameCommand,
    verify: async () => (await import("./verify.ts")).verifyCommand,
    lint: async () => (await import("./lint.ts")).lintCommand,
    doctor: async () => (await import("./doctor.ts")).doctorCommand,
    report: async () => (await import("./report.ts")).reportCommand,
  },
  "Work on branches": {
    rebase: async () => (await import("./rebase.ts")).rebaseCommand,
    squash: async () => (await import("./squash.ts")).squashCommand,
  },
  "Existing databases and repairs": {
    pull: async () => (await import("./pull.ts")).pullCommand,
    baseline: async () => (await import("./baseline.ts")).baselineCommand,
    resolve: async () => (await import("./resolve.ts")).resolveCommand,
    repair: async () => (await import("./repair.ts")).repairCommand,
  },
  More: {
    serve: async () => (await import("./serve.ts")).serveCommand,
    completion: async () => (await import("./completion.ts")).completionCommand,
  },
} satisfies Readonly<Record<string, Loaders>>;

type Loaders = Readonly<Record<string, () => Promise<Command>>>;

const loaders: Loaders = Object.assign({}, ...Object.values(groups));

export const commandNames: readonly string[] = Object.keys(loaders);

/** The command of this name; undefined if there is none. */
export async function loadCommand(name: string): Promise<Command | undefined> {
  return Object.hasOwn(loaders, name) ? await loaders[name]!() : undefined;
}

export async function loadCommands(): Promise<readonly Command[]> {
  return (await loadGroups()).flatMap(([, commands]) => commands);
}

/** The commands under the title of their group. */
export async function loadGroups(): Promise<readonly (readonly [title: string, commands: readonly Command[]])[]> {
  return await Promise.all(
    Object.entries<Loaders>(groups).map(
      async ([title, group]) =>
        [title, await Promise.all(Object.values(group).map(async (load) => await load()))] as const,
    ),
  );
}
