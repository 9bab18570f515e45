import { expect, test } from "vitest";
import { environmentOf, environmentOfNight, environments, variablesOf } from "./environments.ts";

const noon = new Date(Date.UTC(2026, 10, 28, 12));
const startOf = (name: string, now = noon) => environments[name]!.start!(now).toISOString();

test("the clocks are those that their names say", () => {
  expect(startOf("two-days-ahead")).toBe("2026-11-30T12:00:00.000Z");
  expect(startOf("400-days-ahead")).toBe("2028-01-02T12:00:00.000Z");
  expect(startOf("leap-day")).toBe("2028-02-29T12:00:00.000Z");
  expect(startOf("leap-day", new Date(Date.UTC(2096, 5)))).toBe("2104-02-29T12:00:00.000Z");
  expect(startOf("midnight")).toBe("2026-11-28T23:56:00.000Z");
  expect(startOf("new-year")).toBe("2026-12-31T23:56:00.000Z");
});

test("after as many nights as there are environments each has had its turn", () => {
  const nights = Object.keys(environments).map((_, index) => new Date(noon.getTime() + index * 86_400_000));
  expect(new Set(nights.map(environmentOfNight))).toEqual(new Set(Object.keys(environments)));
});

test("several at once are one environment", () => {
  expect(environmentOf(["kiritimati", "german", "no-passwd"])).toEqual({
    env: { TZ: "Pacific/Kiritimati", LANG: "de_DE.UTF-8", LANGUAGE: "de", LC_ALL: "de_DE.UTF-8" },
    user: 54_321,
  });
  expect(() => environmentOf([])).toThrow("name environments, of two-days-ahead,");
  expect(() => environmentOf(["mars"])).toThrow("there is no environment mars; there are two-days-ahead,");
});

test.each(["kiritimati st-johns", "no-passwd not-root", "leap-day midnight"])("%s are refused at once", (names) => {
  expect(() => environmentOf(names.split(" "))).toThrow("can't hold at once");
});

test("a place needs no other clock", () => {
  const none = () => {
    throw new Error("there are none");
  };
  expect(variablesOf(environmentOf(["st-johns"]), noon, none)).toEqual({ TZ: "America/St_Johns" });
});
