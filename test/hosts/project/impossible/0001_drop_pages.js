import { dropColumn } from "lance-migrate";

export const up = [dropColumn("documents", "pages")];
