/** The package.json that `npm init -y` writes. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

let written: object | undefined;

/** It differs only in the name of the folder, so npm, which takes half a second, is started once. */
export function initializedPackage(): object {
  return (written ??= initialize());
}

function initialize(): object {
  const folder = mkdtempSync(join(tmpdir(), "lance-migrate-"));
  try {
    execFileSync("npm", ["init", "-y"], { cwd: folder, stdio: "ignore" });
    return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as object;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
