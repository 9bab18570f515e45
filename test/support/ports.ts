import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** The lowest port that Linux gives to who asks for any (net.ipv4.ip_local_port_range). Others begin higher. */
const firstEphemeral = 32_768;

/**
 * A port on which nothing listens. It is none of those that the system gives to who asks for any: a test beside this one
 * would soon be given it, and answer.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, firstEphemeral);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((tell) => {
    const server = createServer();
    server.once("error", () => tell(false));
    server.listen(port, "127.0.0.1", () => server.close(() => tell(true)));
  });
}
