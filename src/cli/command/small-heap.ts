import { setFlagsFromString } from "node:v8";

/**
 * For commands that read a whole ledger and evaluate no migrations. V8 enlarges its space for new objects to 64 MB while
 * many of them stay in use. Without that, `status` with 10,000 records takes 30 MB less and no more time. Commands that
 * evaluate thousands of migrations would take longer.
 */
export function keepHeapSmall(): void {
  // An unknown flag would be reported on stderr.
  if (/^1[23]\./.test(process.versions.v8)) setFlagsFromString("--semi-space-growth-factor=1");
}
