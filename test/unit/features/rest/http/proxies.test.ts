import { expect, test } from "vitest";
import { proxiesOf } from "../../../../../src/features/rest/http/proxies.ts";

test.each<[object, object | undefined]>([
  [{}, undefined],
  [{ http_proxy: "  " }, undefined],
  [{ http_proxy: "http://one:1" }, { httpProxy: "http://one:1" }],
  [{ HTTPS_PROXY: "other:2" }, { httpsProxy: "http://other:2" }],
  [{ http_proxy: "one:1", HTTP_PROXY: "two:2" }, { httpProxy: "http://one:1" }],
  [
    { http_proxy: "one:1", https_proxy: "https://other:2" },
    { httpProxy: "http://one:1", httpsProxy: "https://other:2" },
  ],
])("of the environment %j the proxies are %j", (environment, proxies) => {
  expect(proxiesOf(environment as NodeJS.ProcessEnv, "cloud")).toEqual(proxies);
});

test.each(["ftp://one", "http://%zz@one"])("%s is no address of a proxy, and is not repeated", (address) => {
  const read = () => proxiesOf({ HTTPS_PROXY: address }, "cloud");
  expect(read).toThrow("the environment variable HTTPS_PROXY must be the address of a proxy");
  expect(read).not.toThrow(address);
});
