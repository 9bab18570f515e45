import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { documentOf } from "./layout.ts";
import { copyOf, renderPage } from "./page.ts";
import { sections } from "./sections.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Writes the site to an empty folder. */
export function buildSite(folder: string): void {
  const sources = new Set(Object.values(sections).flat());
  const navigation = Object.entries(sections).map(
    ([section, own]) => [section, own.map((source) => renderPage(root, source, sources))] as const,
  );
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const page of navigation.flatMap(([, pages]) => pages)) {
    writeFileSync(join(folder, page.path), documentOf(page, navigation));
    for (const file of page.files) copy(join(root, file), join(folder, copyOf(file)));
  }
  copy(join(root, "site/pages/style.css"), join(folder, "style.css"));
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to);
}
