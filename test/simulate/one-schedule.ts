/** What a bundle needs that runs one schedule after another in the process that has loaded it. */
export { drawScenario } from "./history.ts";
export { runSchedule } from "./schedule.ts";
