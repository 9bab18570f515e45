/** The vitest projects, and the folders of tests in each: `npx vitest run --project unit`. */
export const projects: Readonly<Record<string, readonly string[]>> = {
  unit: ["unit", "types", "mutants"],
  contract: ["contract", "service", "rest", "sequences"],
  e2e: ["e2e", "container"],
  fault: ["fault", "simulate", "histories"],
};
