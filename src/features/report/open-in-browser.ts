/** Opens a file with the program that the user has for it. */
import { spawn } from "node:child_process";
import type { Output } from "../../cli/command/output.ts";

/** By platform; the path is the last argument. */
const openers: Readonly<Record<string, readonly string[]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** If there is no such program, that is a note: the page is written. */
export async function openInBrowser(path: string, output: Output): Promise<void> {
  const [program, ...args] = openers[process.platform] ?? ["xdg-open"];
  const child = spawn(program!, [...args, path], { detached: true, stdio: "ignore" });
  const started = await new Promise<boolean>((resolve) => {
    child.once("spawn", () => resolve(true)).once("error", () => resolve(false));
  });
  if (started) child.unref();
  else output.problem(`${program} can't be started; open ${path} in a browser`);
}
