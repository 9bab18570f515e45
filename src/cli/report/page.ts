/** The page of `migrate report`: one file that loads nothing, with the document in it and a script that shows it. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { formatMigration } from "../../migrations/file-name.ts";
import type { ReportDocument } from "../../commands/report/report-document.ts";
import { packageFolder } from "../../scaffold/package-folder.ts";
import { cleaned } from "../../secrets/redact.ts";
import { printable } from "../command/printable.ts";

/** By this line the command recognises a page that it may overwrite. */
const pageMark = "<!doctype html><!-- written by migrate report -->";

export function isReportPage(text: string): boolean {
  return text.startsWith(pageMark);
}

export function reportPage(report: ReportDocument): string {
  const shown = visible(cleaned(report)) as ReportDocument;
  const rows = shown.migrations.map(
    (one) =>
      `<tr><th scope="row">${escaped(formatMigration(one))}</th><td>${escaped(one.status)}</td><td>${escaped(one.at ?? "")}</td></tr>`,
  );
  const plain = `<table><caption>Migrations of ${escaped(shown.target)}</caption>${rows.join("\n")}</table>`;
  return page(`Schema report of ${shown.target}`, "report", shown, plain);
}

/** `plain`: what a reader without JavaScript gets, as HTML. */
function page(title: string, name: string, data: unknown, plain: string): string {
  const script = readPart(`${name}.js`);
  const style = readPart("report.css");
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
