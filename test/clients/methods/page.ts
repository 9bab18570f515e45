/** The tables of docs/ about the clients' methods. Tests write them with `vitest -u`, and compare them otherwise. */

export interface Method {
  readonly name: string;
  /** Absent if it works. */
  readonly refusedBy?: "service" | "client" | "engine" | null | undefined;
  readonly message?: string | null | undefined;
}

export function pageOf(title: string, intro: string, groups: Readonly<Record<string, readonly Method[]>>): string {
  const parts = Object.entries(groups).map(([group, methods]) => `## ${group}\n\n${tableOf(methods)}`);
  return `# ${title}\n\n${intro}\n\n${parts.join("\n\n")}\n`;
}

function tableOf(methods: readonly Method[]): string {
  const works = methods.filter(({ refusedBy }) => refusedBy == null).map(({ name }) => `\`${name}\``);
  const others = methods.filter(({ refusedBy }) => refusedBy != null);
  const lines = others.map(({ name, refusedBy, message }) => `| \`${name}\` | the ${refusedBy} | ${message} |`);
  const refused = lines.length === 0 ? [] : ["", "| not supported | refused by | message |", "|---|---|---|", ...lines];
  return [`Supported: ${works.length === 0 ? "none" : works.join(", ")}.`, ...refused].join("\n");
}
