#!/usr/bin/env node
// Any version of Node may parse this file, so neither it nor its static imports may need a newer one.
// Everybody on the machine can read a process's arguments, so a title replaces them if they contain a key.
if (process.argv.some((arg) => /^--api-?key/i.test(arg))) process.title = "migrate";

const needed = [22, 19] as const;
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major < needed[0] || (major === needed[0] && minor < needed[1])) {
  process.stderr.write(
    `migrate needs Node ${needed.join(".")} or newer and this is ${process.versions.node}; ` +
      "install a newer one, or add it to the project: npm install --save-dev node@24\n",
  );
  process.exitCode = 2;
} else {
  void import("./start.ts").then(({ start }) => start(process.argv.slice(2), import.meta.url));
}
