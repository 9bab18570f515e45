import { count } from "../../../errors/migrate-error.ts";
import type { CheckRecallAction } from "../../../actions/model/action.ts";
import type { MeasuredRecall } from "../../../run/events.ts";
import { formatRecall } from "../../../cli/render/recall.ts";
import { ActionFailed } from "../../../run/calls/action-failed.ts";

/** The index finds fewer neighbours than it must. */
export class RecallTooLow extends ActionFailed {
  constructor({ table, name, index, minRecall, k }: CheckRecallAction, { recall, sampled }: MeasuredRecall) {
    const measured = `${formatRecall(recall!)} with ${count(sampled, "vector")} of ${table}.${index.path}`;
    super(
      `the recall@${k} of index ${name} is ${measured}, and minRecall is ${minRecall}; use ${better(index.kind)}, or lower minRecall`,
    );
  }
}

/** What makes an index of this kind find more. */
function better(kind: string): string {
  if (kind === "ivfFlat") return "fewer partitions (numPartitions)";
  if (kind === "ivfPq")
    return "more sub-vectors (numSubVectors), fewer partitions (numPartitions) or another kind of index";
  if (kind === "hnswPq") return "more sub-vectors (numSubVectors), a higher efConstruction or another kind of index";
  if (kind === "hnswSq")
    return "a higher efConstruction or m, fewer partitions (numPartitions) or another kind of index";
  return "fewer partitions (numPartitions) or another kind of index";
}
