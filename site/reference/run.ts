/** `npm run reference`: writes the generated parts of docs again. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../screenshots/project.ts";
import { referenceFiles } from "./files.ts";

for (const [path, { is, must }] of await referenceFiles()) {
  if (is === must) continue;
  writeFileSync(join(root, path), must);
  console.log(`wrote ${path}`);
}
// The process in which the commands have run waits for more.
process.exit();
