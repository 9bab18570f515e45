import { once } from "node:events";
import { resolve } from "node:path";
import { requirePackages } from "../../engine/package/installed-packages.ts";
import { MigrateError } from "../../errors/migrate-error.ts";
import { keepSecret, shortestSecret } from "../../secrets/redact.ts";
import { headerValue } from "../../wire/content-types.ts";
import { defineCommand } from "../../cli/command/command.ts";
import { patternFlag, secondsFlag, textFlag, wholeFlag } from "../../cli/command/flags.ts";
import type { serve } from "./json.ts";

/** In a key. Not even of random keys of eight digits do more than one in a hundred have fewer. */
const fewestCharacters = 4;

export const serveCommand = defineCommand({
  describe: "serve the tables of a folder over HTTP",
  examples: [
    ["migrate serve --data .lancedb", "serve a folder on port 2333 of this machine"],
    ["migrate serve --data /srv/lance --host 0.0.0.0 --port 8080", "serve it to others; set MIGRATE_API_KEY"],
  ],
  readsConfig: false,
  stopping: "stopping: waiting up to 8 seconds for requests in progress, then cutting them off",
  flags: {
    data: patternFlag(
      "the folder that holds the tables",
      /^(?![a-z][a-z0-9+.-]*:\/\/)./i,
      "must be a folder; an object store can't be served",
      { value: "FOLDER" },
    ),
    host: textFlag("the address to listen on (127.0.0.1)", { value: "ADDRESS" }),
    port: wholeFlag("the port to listen on (2333); 0 for any free one", 0, 65_535),
    "api-key": textFlag("the key that every request must send in the header x-api-key; better set MIGRATE_API_KEY", {
      value: "KEY",
    }),
    database: textFlag("the database that every request must name", { value: "NAME" }),
    "body-limit": wholeFlag("the largest request body, in MB (256)", 1, 9999),
    "request-timeout": secondsFlag("seconds within which a request must arrive completely (300)", 1),
    "work-timeout": secondsFlag("seconds after which work on a request is given up (600)", 1),
    workers: wholeFlag("the most processes that work on requests (one for each core, and at least 4)", 1, 1_000),
    "worker-memory": wholeFlag(
      "the most memory of each of them, in MB (2048); has an effect on Linux",
      1_024,
      1_000_000,
    ),
    "index-after": secondsFlag(
      "seconds without writes to a table after which its indexes get the rows that they lack (5); 0 for never",
    ),
  },
  async run({ flags, output, signal, underWay }) {
    const { data, host = "127.0.0.1", port = 2333, "api-key": flagKey, database } = flags;
    if (data === undefined)
      throw new MigrateError("ERR_USAGE", { problem: "migrate serve needs the folder of the tables: --data DIR" });
    // Everybody on the machine can see arguments, so the environment is the better place for a key.
    const apiKey = flagKey ?? process.env["MIGRATE_API_KEY"] ?? "";
    keepSecret(apiKey);
    const problem = keyProblem(apiKey) ?? headerProblem(apiKey, database);
    if (problem !== undefined) throw new MigrateError("ERR_USAGE", { problem });
    requirePackages("migrate serve", { fastify: "5", "@fastify/swagger": "9", workerpool: "10" });
    // fastify is slow to load, and no other command needs it.
    const { startService } = await import("./start-service.ts");
    // An answer 500 refers to the log, so --quiet and --json must not silence the reason.
    const log = (line: string, isFailure: boolean) => (isFailure ? output.problem(line) : output.progress(line));
    underWay(true);
    const service = await startService({
      data,
      host,
      port,
      apiKey,
      database,
      log,
      workers: flags.workers,
      bodyLimit: times(flags["body-limit"], 2 ** 20),
      workerMemory: times(flags["worker-memory"], 2 ** 20),
      requestTimeout: times(flags["request-timeout"], 1_000),
      workTimeout: times(flags["work-timeout"], 1_000),
      indexAfter: times(flags["index-after"], 1_000),
    });
    output.data<typeof serve>({ url: service.url, port: service.port, data: resolve(data) });
    output.result(`serving ${resolve(data)} on ${service.url}`);
    if (!signal.aborted) await once(signal, "abort");
    await service.close();
    return undefined;
  },
});

function times(value: number | undefined, unit: number): number | undefined {
  return value === undefined ? undefined : value * unit;
}

function keyProblem(key: string): string | undefined {
  if (key === "")
    return "migrate serve needs the key that its clients must send; set MIGRATE_API_KEY, or pass --api-key";
  // Nothing limits the number of requests, so a client could try all short keys.
  if (key.length < shortestSecret)
    return `the key has fewer than ${shortestSecret} characters and could be guessed; choose a longer one, such as openssl rand -hex 24 prints`;
  if (new Set(key).size < fewestCharacters)
    return `the key has fewer than ${fewestCharacters} different characters and could be guessed; choose another one, such as openssl rand -hex 24 prints`;
  return undefined;
}

/** No client could send any other text in a header. */
function headerProblem(key: string, database = "-"): string | undefined {
  if ([key, database].every((text) => headerValue.test(text))) return undefined;
  return "the key and the database's name must fit into a header: plain characters, without line breaks or spaces around them";
}
