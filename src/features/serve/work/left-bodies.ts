/**
 * A service that is killed leaves the folder of its bodies. Another one on the same data folder may still run, in another
 * container or on another machine, so process ids do not show whose folders are left. Instead, each service changes the
 * time of its own folder again and again, and a folder whose time does not change is left.
 */
import { lstatSync, readdirSync, rmdirSync, rmSync, utimesSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { privateFolder, removeEntries } from "../../../engine/folder/private-folder.ts";
import type { DataFolder } from "../tables/data-folder.ts";
import { folderOfBodies } from "./body.ts";

/** Milliseconds between two changes of the time. */
const usualInterval = 20_000;
/** Milliseconds without a change after which a folder is left. Clocks of different machines are not compared. */
const usualPatience = 120_000;

/** Shows that the bodies of this service are in use, until it is ended. Then it removes them. */
export function keepBodies(data: DataFolder, interval = usualInterval): { end(): void } {
  const folder = folderOfBodies(data);
  const timer = setInterval(() => {
    try {
      utimesSync(folder, new Date(), new Date());
    } catch {
      // There are no bodies at the moment.
    }
  }, interval).unref();
  return {
    end() {
      clearInterval(timer);
      rmSync(folder, { recursive: true, force: true });
      try {
        rmdirSync(dirname(folder));
      } catch {
        // It is in use.
      }
    },
  };
}

/** Removes the bodies of services that no longer run. */
export async function removeLeftBodies(data: DataFolder, signal: AbortSignal, patience = usualPatience): Promise<void> {
  const before = timesIn(join(data.path, privateFolder));
  if (before.size === 0) return;
  await sleep(patience, undefined, { ref: false, signal });
  await removeEntries(
    data.path,
    (kind, changedAt, name) => kind === "bodies" && name !== data.bodies && before.get(name) === changedAt,
  );
}

function timesIn(path: string): ReadonlyMap<string, number> {
  try {
    return new Map(readdirSync(path).map((name) => [name, lstatSync(join(path, name)).mtimeMs]));
  } catch {
    return new Map(); // there is none, or an entry is gone already
  }
}
