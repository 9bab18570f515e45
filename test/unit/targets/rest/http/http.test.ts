import { expect, test, vi } from "vitest";
import { openHttp } from "../../../../../src/targets/rest/http/http.ts";
import { settingsOf } from "../../../../../src/targets/rest/options/options.ts";
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

test("a text that is nested too deep is refused, and Arrow data is not looked into", async () => {
  const beginnings: Record<string, Buffer> = {
    "/v1/text": Buffer.of(),
    "/v1/file": Buffer.from("ARROW1"),
    "/v1/stream": Buffer.of(0xff),
  };
  const deep = Buffer.from("[".repeat(1_000));
  const { url } = await serve((response, { path }) => response.end(Buffer.concat([beginnings[path]!, deep])));
  const config = { kind: "rest", endpoint: url, apiKey: "a-key" } as const;
  const http = openHttp(settingsOf(config, { name: "here", folder: "/" }));
  for (const endpoint of ["GET /v1/file", "GET /v1/stream"])
    expect(await http.read({ endpoint })).toMatchObject({ status: 200 });
  await expect(http.read({ endpoint: "GET /v1/text" })).rejects.toMatchObject({ code: "ERR_ANSWER" });
  await http.close();
});
