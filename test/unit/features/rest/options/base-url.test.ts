import { describe, expect, test } from "vitest";
import { baseUrl } from "../../../../../src/features/rest/options/base-url.ts";

describe("an address", () => {
  test.each([
    // with a scheme
    ["https://lance.example.com", "https://lance.example.com"],
    ["http://lance.example.com", "http://lance.example.com"],
    ["HTTPS://Lance.Example.COM", "https://lance.example.com"],
    ["https://lance.example.com.", "https://lance.example.com."],
    ["https://münchen.example", "https://xn--mnchen-3ya.example"],
    ["https://lance_service.internal", "https://lance_service.internal"],
    // slashes at its end
    ["https://lance.example.com/", "https://lance.example.com"],
    ["https://lance.example.com///", "https://lance.example.com"],
    ["https://lance.example.com?", "https://lance.example.com"],
    ["https://lance.example.com/#", "https://lance.example.com"],
    // base paths
    ["https://example.com/lance", "https://example.com/lance"],
    ["https://example.com/lance/", "https://example.com/lance"],
    ["https://example.com/a/b/c//", "https://example.com/a/b/c"],
    ["https://example.com/a/../b", "https://example.com/b"],
    ["https://example.com/äpfel", "https://example.com/%C3%A4pfel"],
    ["https://example.com/with%20space", "https://example.com/with%20space"],
    // the version that documentation writes
    ["https://lance.example.com/v1", "https://lance.example.com"],
    ["https://lance.example.com/v1/", "https://lance.example.com"],
    ["https://lance.example.com/v1//", "https://lance.example.com"],
    ["https://example.com/lance/v1", "https://example.com/lance"],
    ["https://example.com/lance/v1/", "https://example.com/lance"],
    ["https://example.com/lancev1", "https://example.com/lancev1"],
    ["https://example.com/v1/lance", "https://example.com/v1/lance"],
    ["https://v1", "https://v1"],
    // slashes before the version leave none behind it
    ["https://lance.example.com//v1", "https://lance.example.com"],
    ["https://example.com/lance//v1/", "https://example.com/lance"],
    // ports
    ["https://lance.example.com:8443", "https://lance.example.com:8443"],
    ["http://lance.example.com:2333/v1", "http://lance.example.com:2333"],
    ["https://lance.example.com:443", "https://lance.example.com"],
    ["http://lance.example.com:80/", "http://lance.example.com"],
    ["http://lance.example.com:443", "http://lance.example.com:443"],
    // numbers as addresses
    ["http://10.0.0.7:2333", "http://10.0.0.7:2333"],
    ["http://[::1]:2333", "http://[::1]:2333"],
    ["http://[::1]", "http://[::1]"],
    ["https://[2001:db8::7]:8443/lance/", "https://[2001:db8::7]:8443/lance"],
    ["https://[2001:0DB8::0007]", "https://[2001:db8::7]"],
    // names inside a network
    ["http://lance", "http://lance"],
    ["http://lance-service.data.svc.cluster.local:8080", "http://lance-service.data.svc.cluster.local:8080"],
    ["http://host.docker.internal:2333", "http://host.docker.internal:2333"],
    // without a scheme
    ["lance.example.com", "https://lance.example.com"],
    ["lance.example.com/", "https://lance.example.com"],
    ["lance.example.com:8443", "https://lance.example.com:8443"],
    ["lance.example.com/base/v1", "https://lance.example.com/base"],
    ["lance:2333", "https://lance:2333"],
    ["10.0.0.7:2333", "https://10.0.0.7:2333"],
    ["[2001:db8::7]:2333", "https://[2001:db8::7]:2333"],
    // only this machine is spoken to in plain text by itself
    ["localhost", "http://localhost"],
    ["localhost:2333", "http://localhost:2333"],
    ["LOCALHOST:2333/v1", "http://localhost:2333"],
    ["127.0.0.1:2333", "http://127.0.0.1:2333"],
    ["127.3.2.1", "http://127.3.2.1"],
    ["[::1]:2333", "http://[::1]:2333"],
    ["https://localhost:2333", "https://localhost:2333"],
    ["localhost.example.com", "https://localhost.example.com"],
    ["127.0.0.1.example.com", "https://127.0.0.1.example.com"],
    // spaces and lines around it
    ["  https://lance.example.com  ", "https://lance.example.com"],
    ["https://lance.example.com\n", "https://lance.example.com"],
    ["\t lance.example.com \r\n", "https://lance.example.com"],
    // LanceDB Cloud
    ["db://my-database", "https://my-database.us-east-1.api.lancedb.com"],
    ["db://my_database/", "https://my_database.us-east-1.api.lancedb.com"],
    ["DB://my-database", "https://my-database.us-east-1.api.lancedb.com"],
  ])("%j has the base %j", (typed, base) => {
    expect(baseUrl(typed)).toEqual({ base });
  });

  test("of LanceDB Cloud is in the region that was asked for", () => {
    expect(baseUrl("db://mine", "eu-central-1")).toEqual({ base: "https://mine.eu-central-1.api.lancedb.com" });
  });
});

const secret = "sk-5ecret";

describe("what is no address is refused, without a word of what was typed:", () => {
  const noAddress = /^must be an address such as https:/;
  const scheme = /^must begin with https:\/\/ or http:\/\//;
  const cloud =
    /^must be db:\/\/NAME for LanceDB Cloud, with a name of letters, digits, - and _, and nothing after it$/;
  const user = /^holds a user name or a password; give the key as apiKey/;
  const tail = /^must end before \? and #; give the key as apiKey/;
  test.each<readonly [string, RegExp]>([
    ["", noAddress],
    ["   ", noAddress],
    ["https://", noAddress],
    [`https:// ${secret}.example.com`, noAddress],
    [`https://${secret} .example.com`, noAddress],
    [`https://example.com/${secret} x`, noAddress],
    [`https://example.com\n${secret}`, noAddress],
    [`${secret} ${secret}`, noAddress],
    [`https://example.com:${secret}`, noAddress],
    [`https://example.com:99999/${secret}`, noAddress],
    [`https://[::1/${secret}`, noAddress],
    [`https://[${secret}]`, noAddress],
    [`::1/${secret}`, noAddress],
    ["2001:db8::7", noAddress],
    [`https://<${secret}>`, noAddress],
    [`https://exa%mple/${secret}`, noAddress],
    [`https://256.256.256.256/${secret}`, noAddress],
    [`javascript:alert("${secret}")`, noAddress],
    [`mailto:${secret}@example.com`, /./],
    [`ftp://example.com/${secret}`, scheme],
    [`file:///etc/${secret}`, scheme],
    [`ws://example.com/${secret}`, scheme],
    [`grpc://${secret}`, scheme],
    [`s3://${secret}/tables`, scheme],
    [`db://${secret}/prefix`, cloud],
    [`db://${secret}.example`, cloud],
    [`db://name?key=${secret}`, cloud],
    ["db://", cloud],
    [`https://user:${secret}@example.com`, user],
    [`https://${secret}@example.com`, user],
    [`https://:${secret}@example.com`, user],
    [`user:${secret}@example.com`, user],
    [`${secret}@localhost:2333`, user],
    [`https://example.com?api_key=${secret}`, tail],
    [`https://example.com/v1/?key=${secret}#x`, tail],
    [`https://example.com/#${secret}`, tail],
    [`example.com?${secret}`, tail],
  ])("%j", (typed, problem) => {
    const parsed = baseUrl(typed);
    expect(parsed).toEqual({ problem: expect.stringMatching(problem) });
    expect(JSON.stringify(parsed)).not.toContain(secret);
  });

  // Taken as it stands, each is the address of another host, such as one named "https".
  test.each([
    "https:/lance.example.com",
    "http:/lance.example.com",
    "https//lance.example.com",
    "https:\\\\lance.example.com",
    '"https://lance.example.com"',
    "'https://lance.example.com'",
    "https://a.example.com,https://b.example.com",
    "https://https://lance.example.com",
    "db:/mine",
  ])("the slip of the hand %j", (typed) => {
    expect(baseUrl(typed)).toHaveProperty("problem");
  });
});
