import { expect, test, vi } from "vitest";
import { openHttp } from "../../../../../src/features/rest/http/http.ts";
import { settingsOf } from "../../../../../src/features/rest/options/options.ts";
import { anAuthority, serve, serveProxy } from "../../../../rest/servers.ts";

test.each([
  ["a service of an own authority is trusted with its certificate", "*"],
  ["so is one that is asked through a proxy", ""],
])("%s", async (_, noProxy) => {
  const authority = anAuthority();
  const { port } = await serve((response) => response.end("{}"), authority.sign("DNS:localhost"));
  const proxy = await serveProxy();
  for (const [name, value] of [
    ["https_proxy", proxy.url],
    ["no_proxy", noProxy],
  ] as const)
    for (const variable of [name, name.toUpperCase()]) vi.stubEnv(variable, value);
  const config = { kind: "rest", endpoint: `https://localhost:${port}`, apiKey: "a-key", ca: authority.file } as const;
  const http = openHttp(settingsOf(config, { name: "here", folder: "/" }));
  expect(await http.read({ endpoint: "GET /v1/tables" })).toMatchObject({ status: 200 });
  expect(proxy.seen.length).toBe(noProxy === "" ? 1 : 0);
  await http.close();
  vi.unstubAllEnvs();
});

test.each([
  ["a file of Arrow data", "ARROW1", false],
  ["a stream of Arrow data", "\u00FF", false],
  ["a text", "{}", true],
])("whether an answer may be larger than the rows that are asked for: %s", async (_, beginning, mayBe) => {
  const { url } = await serve((response) => response.end(Buffer.from(beginning.padEnd(100), "latin1")));
  const config = { kind: "rest", endpoint: url, apiKey: "a-key" } as const;
  const http = openHttp(settingsOf(config, { name: "here", folder: "/" }));
  const answer = http.read({ endpoint: "GET /v1/rows", largest: 99 });
  if (mayBe) await expect(answer).resolves.toMatchObject({ status: 200 });
  else await expect(answer).rejects.toMatchObject({ code: "ERR_ANSWER" });
  await http.close();
});
