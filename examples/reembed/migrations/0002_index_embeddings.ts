import { createIndex, ivfFlat } from "lance-migrate";

export const up = [createIndex("entries", "embedding", ivfFlat({ numPartitions: 64 }))];
