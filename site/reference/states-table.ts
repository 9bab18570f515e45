/** The generated table of states in docs/runbook.md. */
import { states } from "../../src/errors/states.ts";
import { table } from "./markdown.ts";

export function statesTable(): string {
  const commands = (text: string) =>
    text
      .split(", then ")
      .map((command) => `\`${command}\``)
      .join(", then ");
  const rows = Object.entries(states).map(([name, { means, on, back }]) => [name, means, commands(on), commands(back)]);
  return table(["state", "what has happened", "to go on", "to go back"], rows);
}
