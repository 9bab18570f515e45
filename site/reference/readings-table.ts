/** docs/reference/service-readings.md: the table of the readings of the service's document, which test/service/family.test.ts tries. */
import { readings } from "../../test/service/family/readings.ts";
import { table } from "./markdown.ts";

export function readingsTable(): string {
  const outcome = (works: boolean) => (works ? "migrations run" : "refused before anything is changed");
  return table(
    ["part", "what the service does", "result"],
    readings.map(({ part, text, works }) => [part, text, outcome(works)]),
  );
}
