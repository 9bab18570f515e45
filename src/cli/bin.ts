#!/usr/bin/env node
// Parsed by whatever Node is there, so nothing newer than the check may stand in this file or be imported by it.
// Everybody on the machine may read arguments, so a key does not stay among them.
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
  void import("./main.ts").then(({ main }) => main(process.argv.slice(2)));
}
