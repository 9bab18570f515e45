import { createTable, int64, utf8, type Step } from "lance-migrate";

export const up: readonly Step[] = [createTable("documents", { id: int64().notNull(), title: utf8() })];
