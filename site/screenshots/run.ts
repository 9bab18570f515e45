/**
 * `npm run screenshots [NAME …]`: runs the built command in terminals, and writes what they show to docs/images.
 * Pictures of pages need the Debian packages chromium, fonts-liberation and fonts-noto-color-emoji.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { commentPicture } from "./comment.ts";
import { filmSvg } from "./film.ts";
import { root } from "./project.ts";
import { pictures, takeReport } from "./report.ts";
import { recording, screenshots } from "./scenes.ts";
import { windowSvg } from "./svg.ts";
import { film, take } from "./take.ts";

const folder = join(root, "docs/images");
const wanted = process.argv.slice(2);
const isWanted = (name: string) => wanted.length === 0 || wanted.includes(name);

mkdirSync(folder, { recursive: true });
for (const screenshot of screenshots.filter(({ name }) => isWanted(name))) {
  const { name, shown, columns } = screenshot;
  write(name, windowSvg({ title: titleOf(shown), columns, lines: await take(screenshot) }));
}
if (isWanted(recording.name))
  write(recording.name, filmSvg(titleOf(recording.screens.flat()), recording.columns, await film(recording)));
if (isWanted("comment")) writeFileSync(join(folder, "comment.webp"), await commentPicture());
const ofReport = pictures.filter(({ name }) => isWanted(name) || wanted.includes("report"));
if (ofReport.length > 0) await takeReport(ofReport, folder);

function titleOf(commands: readonly string[]): string {
  return commands.map((args) => `npx migrate ${args}`.trim()).join(", then ");
}

function write(name: string, svg: string): void {
  writeFileSync(join(folder, `${name}.svg`), svg);
  console.log(`docs/images/${name}.svg: ${(svg.length / 1000).toFixed(1)} kB`);
}
