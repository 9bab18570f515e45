/** `npm run screenshots [NAME …]`: runs the built command in terminals, and writes what they show to docs/images. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./project.ts";
import { screenshots } from "./scenes.ts";
import { windowSvg } from "./svg.ts";
import { take } from "./take.ts";

const folder = join(root, "docs/images");
const wanted = process.argv.slice(2);

mkdirSync(folder, { recursive: true });
for (const screenshot of screenshots) {
  const { name, shown, columns } = screenshot;
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const title = shown.map((args) => `npx migrate ${args}`.trim()).join(", then ");
  const svg = windowSvg({ title, columns, lines: await take(screenshot) });
  writeFileSync(join(folder, `${name}.svg`), svg);
  console.log(`docs/images/${name}.svg: ${(svg.length / 1000).toFixed(1)} kB`);
}
