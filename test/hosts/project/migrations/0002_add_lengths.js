import { addColumn, int32 } from "lance-migrate";

export const up = [addColumn("documents", "length", int32())];
