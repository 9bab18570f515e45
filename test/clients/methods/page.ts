/** The tables of docs/ about the clients' methods. Tests write them with `vitest -u`, and compare them otherwise. */

export interface Method {
  readonly name: string;
  /** Absent if it works. */
  readonly refusedBy?: "service" | "client" | "engine" | null | undefined;
  readonly message?: string | null | undefined;
}

/** `groups`: of one that is not known now, what the page has. */
export function pageOf(
  title: string,
  intro: string,
  groups: Readonly<Record<string, readonly Method[] | string>>,
): string {
  const parts = Object.entries(groups).map(
    ([group, found]) => `## ${group}\n\n${typeof found === "string" ? found : tableOf(found)}`,
  );
  return `# ${title}\n\n${intro}\n\n${parts.join("\n\n")}\n`;
}

/** What a page has about a group. */
export function groupIn(page: string, group: string): string {
  return (
    page
      .split(/^## /m)
      .find((part) => part.startsWith(`${group}\n`))
      ?.slice(group.length)
      .trim() ?? ""
  );
}

function tableOf(methods: readonly Method[]): string {
  const works = methods.filter(({ refusedBy }) => refusedBy == null).map(({ name }) => `\`${name}\``);
  const others = methods.filter(({ refusedBy }) => refusedBy != null);
  const lines = others.map(({ name, refusedBy, message }) => `| \`${name}\` | the ${refusedBy} | ${message} |`);
  const refused = lines.length === 0 ? [] : ["", "| not supported | refused by | message |", "|---|---|---|", ...lines];
  return [`Supported: ${works.length === 0 ? "none" : works.join(", ")}.`, ...refused].join("\n");
}
