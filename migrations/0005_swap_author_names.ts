import { alterColumns } from "lance-migrate";

/** Two names change places in one atomic call, so that no reader sees one of them twice. */
export const up = [
  alterColumns("authors", [
    { path: "first_name", rename: "last_name" },
    { path: "last_name", rename: "first_name" },
  ]),
];
