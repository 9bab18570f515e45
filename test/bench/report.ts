/**
 * What `migrate report` costs: a project of many migrations, all but a few of them applied in a folder. Prints the seconds of
 * whole processes, the best of some rounds, and the size of the page.
 * `npm run bench report [-- --migrations N --tables N --rounds N]`.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { writeHistory } from "./history-scene.ts";
import { timeOf } from "./measure.ts";
import { bin, optionsOf, temporaryFolder } from "./project.ts";

const values = optionsOf({ migrations: "1000", tables: "200", rounds: "5" });
const [migrations, tables] = [Number(values.migrations), Number(values.tables)];
const folder = temporaryFolder();
const page = join(folder, "report.html");

writeHistory(folder, { migrations, tables });
timeOf([bin, "up", "--quiet", "--to", String(migrations - Math.min(20, migrations))], folder);
const times = Array.from({ length: Number(values.rounds) }, () => timeOf([bin, "report", "--out", page], folder));
const kilobytes = Math.round(statSync(page).size / 1_000);
console.log(
  `${migrations} migrations, ${tables} tables: ${(Math.min(...times) / 1_000).toFixed(1)} s, ${kilobytes} kB`,
);
