/** The crash matrix in Markdown. */
import { matrixTargets, type Verdict } from "./matrix.ts";

export function matrixTable(verdicts: readonly Verdict[]): string {
  const kinds = [...new Set(verdicts.map(({ kind }) => kind))];
  const cell = (verdict: Verdict | undefined) => {
    if (verdict === undefined) return "not tried";
    const { killed, converged, refused } = verdict;
    return killed === 0 && refused !== undefined ? "not supported" : `${converged} of ${killed}`;
  };
  const lines = kinds.map((kind) => {
    const cells = matrixTargets.map((target) =>
      cell(verdicts.find((one) => one.kind === kind && one.target === target)),
    );
    return `| \`${kind}\` | ${cells.join(" | ")} |`;
  });
  return [`| step kind | ${matrixTargets.join(" | ")} |`, `|---|${"---|".repeat(matrixTargets.length)}`, ...lines].join(
    "\n",
  );
}
