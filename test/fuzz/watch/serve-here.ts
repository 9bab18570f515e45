/**
 * `migrate serve` without its command and its workers. The bugs that the fuzzer must find are planted in bundles of it.
 * `MIGRATE_API_KEY=KEY node serve-here.mjs FOLDER`
 */
import { once } from "node:events";
import { startService } from "../../../src/features/serve/start-service.ts";

const service = await startService({
  data: process.argv[2]!,
  host: "127.0.0.1",
  port: 0,
  apiKey: process.env["MIGRATE_API_KEY"]!,
  workers: 0,
  bodyLimit: 8 * 2 ** 20,
  requestTimeout: 10_000,
  indexAfter: 60_000,
  log: (line) => console.error(line),
});
console.log(`serving on ${service.url}`);
await once(process, "SIGTERM");
await service.close();
