/** Times, people and counts as text. Times are UTC, as everywhere in the tool. */
import { formatVersion } from "../../../migrations/file-name.ts";
import { html } from "./dom.ts";

/** "2026-11-20 10:12". */
export function minuteOf(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 16)}`;
}

export function dayOf(iso: string): string {
  return iso.slice(0, 10);
}

export function time(iso: string): HTMLElement {
  return html("time", { datetime: iso, title: `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC` }, minuteOf(iso));
}

/** "ann@laptop (process 12)" without the process. */
export function who(by: string): string {
  return by.split(" (process ")[0]!;
}

/** The fragment of a migration. */
export function idOf(version: number): string {
  return formatVersion(version);
}

export function linkTo(version: number, text: string = formatVersion(version)): HTMLElement {
  return html("a", { href: `#${idOf(version)}` }, html("code", {}, text));
}
