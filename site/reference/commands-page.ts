/** The generated part of docs/reference/commands.md, from the definitions that make the help. */
import { exitEntries, flagEntries, type HelpEntry } from "../../src/main/arguments/help.ts";
import { usageOf, type Command } from "../../src/cli/command/command.ts";
import { commonFlags } from "../../src/cli/command/flags.ts";
import { loadGroups } from "../../src/main/commands/registry.ts";
import { sentence, table } from "./markdown.ts";

/** What to read about a command. */
const guides: Readonly<Record<string, string>> = {
  init: "[setting up a project](../cli.md#setting-up-a-project)",
  new: "[writing migrations](../authoring.md)",
  generate: "[from a declared schema](../authoring.md#from-a-declared-schema)",
  push: "[trying out a schema](../authoring.md#trying-out-a-schema)",
  types: "[types](../types.md)",
  contract: "[application contracts](../contracts.md)",
  build: "[without migration files](../cli.md#without-migration-files)",
  plan: "[plans](../plans.md)",
  up: "[the story of one run](../internals/architecture.md), [many databases](../databases.md), [deferred indexes](../steps.md#deferred-indexes)",
  down: "[rolling back](../rollback.md)",
  rehearse: "[rehearsing](../rollback.md#rehearsing), [trying the code](../backfill.md#trying-the-code)",
  prepare: "[preparing](../embedding-model.md#preparing), [on Ray](../embedding-model.md#on-ray)",
  prune: "[kept versions](../rollback.md#kept-versions)",
  history: "[the ledger](../internals/ledger.md)",
  blame: "[the changes to a column](../internals/ledger.md#the-changes-to-a-column)",
  verify:
    "[drift](../adopting.md#drift), [checking the ledger](../internals/ledger.md#checking-the-ledger), [recall](../steps.md#recall)",
  lint: "[lint](../lint.md)",
  doctor: "[clients](../clients.md), [services](../rest.md)",
  report: "[the report](../report.md)",
  rebase: "[branches](../branches.md#migrate-rebase)",
  squash: "[branches](../branches.md#migrate-squash)",
  pull: "[existing databases](../adopting.md)",
  baseline: "[marking as applied](../adopting.md#marking-as-applied)",
  resolve: "[resolving one migration](../internals/ledger.md#resolving-one-migration)",
  repair: "[repairing and rebuilding](../internals/ledger.md#repairing-and-rebuilding)",
  serve: "[the table service](../service.md)",
  completion: "[completion in shells](../cli.md#completion-in-shells)",
};

export async function commandsPage(): Promise<string> {
  const groups = await loadGroups();
  return groups
    .flatMap(([title, commands]) => [`## ${title}`, overview(commands), ...commands.flatMap(partsOf)])
    .join("\n\n");
}

export function commonFlagTable(): string {
  return flagTable(flagEntries(commonFlags));
}

function overview(commands: readonly Command[]): string {
  const rows = commands.map(({ name, describe }) => [
    `[\`migrate ${name}\`](#migrate-${name})`,
    describe,
    guides[name] ?? "",
  ]);
  return table(["command", "what it does", "more about it"], rows);
}

function partsOf(command: Command): readonly string[] {
  const { name, describe, examples, flags, readsConfig } = command;
  const own = flagEntries(flags);
  const exits = exitEntries(command);
  const lines = examples.map(([line, meaning]) => `# ${meaning}\nnpx ${line}`);
  return [
    `### migrate ${name}`,
    sentence(describe),
    `\`migrate ${usageOf(command)}${own.length === 0 ? "" : " [flags]"}\`${readsConfig === false ? " reads no configuration." : ""}`,
    ...(own.length === 0 ? [] : [flagTable(own)]),
    ...conflictsOf(command),
    ...(exits.length === 0 ? [] : [table(["exit code", "meaning"], exits)]),
    `\`\`\`sh\n${lines.join("\n\n")}\n\`\`\``,
  ];
}

function flagTable(entries: readonly HelpEntry[]): string {
  return table(
    ["flag", "meaning"],
    entries.map(([term, meaning]) => [`\`${term.trim()}\``, meaning]),
  );
}

function conflictsOf({ conflicts = [], flags }: Command): readonly string[] {
  const label = (name: string) => (flags[name]?.kind === "positional" ? `\`${name}\`` : `\`--${name}\``);
  const sentences = conflicts.map(([one = "", ...others]) => {
    const last = label(others.at(-1)!);
    const before = others.slice(0, -1).map(label).join(", ");
    return `${label(one)} can't be used with ${before === "" ? last : `${before} or ${last}`}.`;
  });
  return sentences.length === 0 ? [] : [sentences.join(" ")];
}
