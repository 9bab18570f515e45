// Some registry mirrors serve no packages for platforms other than their own. npm install then leaves the optional
// packages of those platforms out of the lock file, and npm ci refuses the file. This adds them by what the packages
// that want them say; run it after npm install.
import { readFileSync, writeFileSync } from "node:fs";

const file = new URL("../package-lock.json", import.meta.url);
const lock = JSON.parse(readFileSync(file, "utf8"));
const { packages } = lock;

for (const [place, wanting] of Object.entries(packages)) {
  // Beside the package that wants it: at the top, or inside another package's node_modules.
  const beside = place.slice(0, place.lastIndexOf("node_modules/"));
  for (const [name, version] of Object.entries(wanting.optionalDependencies ?? {})) {
    const platform = platformOf(name);
    const key = `${beside}node_modules/${name}`;
    if (platform === undefined || key in packages) continue;
    const license = wanting.license === undefined ? {} : { license: wanting.license };
    packages[key] = { version, ...platform, ...license, ...(wanting.dev && { dev: true }), optional: true };
  }
}
lock.packages = Object.fromEntries(Object.entries(packages).toSorted(([one], [other]) => (one < other ? -1 : 1)));
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);

function platformOf(name) {
  const [, os, cpu, rest] =
    /[-/](android|darwin|freebsd|linux|openharmony|win32)-(arm64|arm|x64|ia32|ppc64|riscv64|s390x)(?:-(\w+))?$/.exec(
      name,
    ) ?? [];
  if (name.endsWith("-wasm32-wasi")) return { cpu: ["wasm32"] };
  if (os === undefined) return undefined;
  const libc = os !== "linux" ? undefined : rest?.includes("musl") ? "musl" : "glibc";
  return { cpu: [cpu], ...(libc !== undefined && { libc: [libc] }), os: [os] };
}
