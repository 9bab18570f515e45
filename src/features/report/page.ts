/** The pages of `migrate report`: each is one file that loads nothing, with the document in it and a script that shows it. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { formatMigration } from "../../migrations/file-name.ts";
import type { FleetDatabase, FleetDocument, ReportDocument } from "./report-document.ts";
import { packageFolder } from "../../engine/package/package-folder.ts";
import { cleaned } from "../../secrets/redact.ts";
import { printable } from "../../cli/command/printable.ts";

/** By this line the command recognises a page that it may overwrite. */
const pageMark = "<!doctype html><!-- written by migrate report -->";

export function isReportPage(text: string): boolean {
  return text.startsWith(pageMark);
}

export function reportPage(report: ReportDocument): string {
  const shown = visible(cleaned(report)) as ReportDocument;
  const rows = shown.migrations.map((one) => [formatMigration(one), one.status, one.at ?? ""]);
  const plain = plainTable(`Migrations of ${shown.target}`, rows);
  return page({ title: `Schema report of ${shown.target}`, name: "report", data: shown, plain });
}

/** The page about all databases of a target. */
export function fleetPage(fleet: FleetDocument): string {
  const shown = visible(cleaned(fleet)) as FleetDocument;
  const plain = plainTable(`Databases of ${shown.target}`, shown.databases.map(plainCells));
  return page({ title: `Databases of ${shown.target}`, name: "fleet", data: shown, plain });
}

function plainCells(one: FleetDatabase): readonly string[] {
  if ("error" in one) return [one.name, "", "", one.error.message];
  const { name, last, pending, problems } = one;
  return [name, last === undefined ? "" : formatMigration(last), `${pending} pending`, problems.join("; ")];
}

/** The first cell of a row is its name. */
function plainTable(caption: string, rows: readonly (readonly string[])[]): string {
  const lines = rows.map(([name = "", ...cells]) => {
    const others = cells.map((text) => `<td>${escaped(text)}</td>`).join("");
    return `<tr><th scope="row">${escaped(name)}</th>${others}</tr>`;
  });
  return `<table><caption>${escaped(caption)}</caption>${lines.join("\n")}</table>`;
}

interface PageParts {
  readonly title: string;
  /** Of its script, and of the style that it has in addition to that of the report. */
  readonly name: "report" | "fleet";
  readonly data: unknown;
  /** What a reader without JavaScript gets, as HTML. */
  readonly plain: string;
}

function page({ title, name, data, plain }: PageParts): string {
  const script = readPart(`${name}.js`);
  const style = [...new Set(["report", name])].map((part) => readPart(`${part}.css`)).join("");
  return `${pageMark}
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src '${hashOf(script)}'; style-src '${hashOf(style)}'; img-src data:">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>${escaped(title)}</title>
<style>${style}</style>
</head>
<body>
<header></header>
<main><noscript>${plain}</noscript></main>
<footer></footer>
<script type="application/json" id="data">${JSON.stringify(data).replaceAll("<", "\\u003c")}</script>
<script>${script}</script>
</body>
</html>
`;
}

function readPart(name: string): string {
  return readFileSync(join(packageFolder(), "dist", name), "utf8");
}

/** The page may run no other script and use no other style. */
function hashOf(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

/** With escapes for characters that can't be seen, or that change how others are shown. Line breaks stay. */
function visible(value: unknown): unknown {
  if (typeof value === "string") return value.split("\n").map(printable).join("\n");
  if (Array.isArray(value)) return value.map(visible);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, visible(one)]));
}
