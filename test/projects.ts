/** The vitest projects, and the folders of tests in each: `npx vitest run --project unit`. */
export const projects: Readonly<Record<string, readonly string[]>> = {
  unit: ["unit", "types", "mutants"],
  contract: ["contract", "service", "rest", "sequences"],
  e2e: ["e2e", "container"],
  fault: ["fault", "simulate", "histories"],
};

/** The longest files, each before those that take less: a file is run by one worker, and at the end everybody would wait for it. */
export const longest: readonly string[] = [
  "fault/crash-matrix",
  "fault/stop",
  "fault/down-crash",
  "container/serve",
  "e2e/secrets",
  "simulate/simulate",
  "fault/clock",
  "fault/crowd",
  "fault/kill",
  "fault/disk",
  "unit/commands/repair/repair",
  "e2e/new",
  "unit/architecture",
  "simulate/planted",
  "unit/run/execute/undescribed",
  "contract/expressions",
  "fault/kill-down",
  "fault/kill-plan",
  "fault/lost-answers",
  "fault/writers",
  "service/races",
  "service/official-client",
  "unit/ledger/audit/audit",
  "histories/histories",
  "sequences/sequences",
  "e2e/rest",
  "e2e/up",
];
