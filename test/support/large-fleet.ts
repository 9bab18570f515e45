/** A report of this number of databases: of 20 migrations each, some of them behind, some refused, some unreadable. */
import type { FleetDatabase, FleetDocument } from "../../src/features/report/report-document.ts";

export function largeFleet(size: number): FleetDocument {
  return {
    format: 1,
    target: "large",
    madeAt: "2026-11-20T10:00:00.000Z",
    tool: "lance-migrate",
    databases: Array.from({ length: size }, (_, at) => aDatabase(at)),
  };
}

function aDatabase(at: number): FleetDatabase {
  const name = `tenant-${at}`;
  if (at % 500 === 499)
    return {
      name,
      duration: 12,
      error: { code: "ERR_TARGET_UNREACHABLE", message: `target large can't be reached: ${name} does not answer` },
    };
  const behind = at % 10 === 0 ? at % 7 : 0;
  const version = 20 - behind;
  return {
    name,
    duration: 3 + (at % 5),
    applied: version,
    last: {
      version,
      name: `change_${version}`,
      by: "ci@runner (process 12)",
      at: new Date(Date.UTC(2026, 9, 1) + at * 60_000).toISOString(),
    },
    pending: behind,
    unfinished: [],
    problems: at % 100 === 50 ? [`0019_change_19 was changed after it ran on ${name}`] : [],
    ...(at % 1000 === 7 && { holder: "ann@laptop (process 4711)" }),
  };
}
