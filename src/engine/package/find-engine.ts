/** Finds the package @lancedb/lancedb: the project's own, else the one beside this tool. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { firstLine, MigrateError } from "../../errors/migrate-error.ts";
import { enginePackage } from "./engine-package.ts";
import { findPackage, installCommand, projectFolder } from "./installed-packages.ts";
import { ownModule, requireHere } from "./own-module.ts";
import { packageManagerOf } from "./package-manager.ts";

/** The versions with which all tests pass. On others, probes run first (src/engine/probes). */
const tested: ReadonlySet<string> = new Set(["0.39.0"]);
const wanted = `${enginePackage}@0.39`;
/** A peer dependency of the engine. Unlike other package managers, Yarn does not install it by itself. */
const wantedPeer = "apache-arrow@18.1.0";
const peer = wantedPeer.split("@")[0]!;

interface Installed {
  readonly main: string;
  readonly version: string;
}

let engine: Installed | undefined;

/** The path of its main module. Throws ERR_ENGINE_MISSING. */
export function findEngine(): string {
  engine ??= installedEngine();
  return engine.main;
}

/** Throws as `findEngine` does. */
export function engineVersion(): string {
  engine ??= installedEngine();
  return engine.version;
}

/** Whether this release was tested with it. Throws as `findEngine` does. */
export function isTested(): boolean {
  return tested.has(engineVersion());
}

/** The error about an engine that can't be used. `unmet`: the assumption that does not hold, in words. */
export function unfitEngine(unmet: string): MigrateError {
  const { version, main } = engine!;
  const folder = dirname(dirname(main));
  const install = installCommand(enginePackages());
  return new MigrateError("ERR_ENGINE_VERSION", { package: enginePackage, version, folder, unmet, install });
}

/** The packages to install before tables in a folder or an object store can be opened. */
export function missingEngine(): readonly string[] {
  const [first] = installed();
  if (first === undefined) return enginePackages();
  return hasPeer(first) ? [] : [wantedPeer];
}

function enginePackages(): readonly string[] {
  return packageManagerOf(projectFolder()).name === "yarn" ? [wanted, wantedPeer] : [wanted];
}

/** Takes milliseconds, so no run checks it ahead. Most runs do not load what needs it. */
function hasPeer({ main }: Installed): boolean {
  return findPackage(peer, main) !== undefined;
}

function installedEngine(): Installed {
  const found = installed();
  const first = found.find(({ version }) => tested.has(version)) ?? found[0];
  if (first !== undefined) return first;
  throw new MigrateError("ERR_ENGINE_MISSING", {
    package: enginePackage,
    install: installCommand(enginePackages()),
  });
}

function installed(): readonly Installed[] {
  return [join(projectFolder(), "package.json"), ownModule].flatMap(engineFrom);
}

function engineFrom(from: string): readonly Installed[] {
  const main = findPackage(enginePackage, from);
  if (main === undefined) return [];
  // The package exports its main module only.
  const { version } = JSON.parse(readFileSync(join(dirname(dirname(main)), "package.json"), "utf8")) as Installed;
  return [{ main, version }];
}

/** Loads a module of the package by its path. Throws ERR_ENGINE_UNLOADABLE, ERR_PACKAGES_MISSING. */
export function loadFromEngine(path: string): unknown {
  try {
    return requireHere(path);
  } catch (cause) {
    if (!hasPeer(engine!)) {
      const missing = { use: enginePackage, packages: [peer], install: installCommand([wantedPeer]) };
      throw new MigrateError("ERR_PACKAGES_MISSING", missing, { cause });
    }
    const details = {
      package: enginePackage,
      platform: `${process.platform}-${process.arch}`,
      problem: firstLine(cause),
    };
    throw new MigrateError("ERR_ENGINE_UNLOADABLE", details, { cause });
  }
}
