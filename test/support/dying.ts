/**
 * Loaded before a command with --import: kills its process at the moment DIES_AT of its own output (kill-moments.ts). The
 * process itself counts: another process would notice the moment too late on a busy machine.
 */
import type { Moment } from "./kill-moments.ts";

const { lines, share } = JSON.parse(process.env["DIES_AT"]!) as Moment;
const write = process.stdout.write.bind(process.stdout);
const die = () => process.kill(process.pid, "SIGKILL");
let [seen, first] = [0, 0];

process.stdout.write = ((text: string | Uint8Array, ...rest: []) => {
  if (seen >= lines) die();
  first ||= performance.now();
  seen += String(text).split("\n").length - 1;
  if (seen >= lines) setTimeout(die, (share * (performance.now() - first)) / seen);
  return write(text, ...rest);
}) as typeof process.stdout.write;
