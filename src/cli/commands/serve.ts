import { resolve } from "node:path";
import { z } from "zod";
import { MigrateError } from "../../errors/migrate-error.ts";
import { keepSecret, shortestSecret } from "../../secrets/redact.ts";
import { headerValue } from "../../wire/content-types.ts";
import { parseFlags, secondsFlag, type Command } from "../command/command.ts";
import { done } from "../command/exit-code.ts";

const text = (flag: string) =>
  z.string(`--${flag} is given twice or without a value`).min(1, `--${flag} needs a value`);

const serveFlags = z.looseObject({
  data: z
    .string("say where the tables are: --data DIR, once")
    .min(1, "--data needs a value")
    .refine(
      (data) => !/^[a-z][a-z0-9+.-]*:\/\//i.test(data),
      "--data must be a folder; an object store can't be served",
    ),
  host: text("host").default("127.0.0.1"),
  port: z
    .string("--port is given twice or without a value")
    .regex(/^\d{1,5}$/, "--port must be a number, such as 2333")
    .transform(Number)
    .refine((port) => port < 65_536, "--port must be below 65536")
    .default(2333),
  "api-key": text("api-key").optional(),
  database: text("database").optional(),
  "body-limit": z
    .string("--body-limit is given twice or without a value")
    .regex(/^[1-9]\d{0,3}$/, "--body-limit must be a number of MB from 1 to 9999")
    .transform((megabytes) => Number(megabytes) * 2 ** 20)
    .optional(),
  "request-timeout": secondsFlag("request-timeout", 1).optional(),
});

export const serveCommand: Command = {
  usage: "serve",
  describe: "serve the tables of a folder over HTTP",
  flags: (cli) =>
    cli
      .option("data", { type: "string", describe: "the folder that holds the tables" })
      .option("host", { type: "string", describe: "the address to listen on (127.0.0.1)" })
      .option("port", { type: "string", describe: "the port to listen on (2333), 0 for any free one" })
      .option("api-key", { type: "string", describe: "the key of every request; better set MIGRATE_API_KEY" })
      .option("database", { type: "string", describe: "the database that every request must name" })
      .option("body-limit", { type: "string", describe: "the largest body, in MB (256)" })
      .option("request-timeout", { type: "string", describe: "seconds in which a request must arrive (300)" }),
  stopping: "stopping when the requests in flight are answered",
  async run({ flags, output, signal, underWay }) {
    const { data, host, port, "api-key": flagKey, database, ...limits } = parseFlags(serveFlags, flags);
    // Everybody on the machine can see arguments, so the environment is the better place for a key.
    const apiKey = flagKey ?? process.env["MIGRATE_API_KEY"] ?? "";
    keepSecret(apiKey);
    if (apiKey === "")
      throw new MigrateError("ERR_USAGE", {
        problem: "migrate serve needs a key that its clients must send; set MIGRATE_API_KEY, or pass --api-key",
      });
    // Nothing limits the number of requests, so a client could try all short keys.
    if (apiKey.length < shortestSecret)
      throw new MigrateError("ERR_USAGE", {
        problem: `the key has fewer than ${shortestSecret} characters and could be guessed; choose a longer one, such as openssl rand -hex 24 prints`,
      });
    // No client could send any other text in a header.
    if (![apiKey, database ?? "-"].every((text) => headerValue.test(text)))
      throw new MigrateError("ERR_USAGE", {
        problem:
          "the key and the database's name must fit into a header: plain characters, without line breaks or spaces around them",
      });
    // fastify is slow to load, and no other command needs it.
    const { startService } = await import("../../service/start-service.ts");
    const { "body-limit": bodyLimit, "request-timeout": seconds } = limits;
    const requestTimeout = seconds === undefined ? undefined : seconds * 1000;
    const log = output.progress;
    underWay(true);
    const service = await startService({ data, host, port, apiKey, database, bodyLimit, requestTimeout, log });
    output.data({ url: service.url, port: service.port, data: resolve(data) });
    output.result(`serving ${resolve(data)} on ${service.url}`);
    await aborted(signal);
    await service.close();
    return done;
  },
};

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((stop) => signal.addEventListener("abort", () => stop(), { once: true }));
}
