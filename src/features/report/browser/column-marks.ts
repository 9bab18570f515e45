/** The signs of changes on the line of a column, and what each change is in words. */
import type { ColumnEvent } from "../columns/column-lives.ts";
import { html, svg } from "./dom.ts";
import { keySign } from "./parts.ts";

type Kind = ColumnEvent["change"];

const kinds: readonly (readonly [kind: Kind, words: string, path: string])[] = [
  ["created", "created", "M-5 0A5 5 0 1 1 5 0 5 5 0 1 1-5 0Z"],
  ["renamed", "renamed", "M0-6 6 0 0 6-6 0Z"],
  ["moved", "moved with its table", "M-5-5H1L5 0 1 5H-5Z"],
  ["retyped", "type changed", "M-4.5-4.5H4.5V4.5H-4.5Z"],
  ["nullability", "nulls allowed or refused", "M-5 0A5 5 0 1 1 5 0 5 5 0 1 1-5 0ZM-2 0A2 2 0 1 0 2 0 2 2 0 1 0-2 0Z"],
  ["computed", "computed by code", "M0-6.5 2-2 6.5-2 3 1 4.5 5.5 0 3-4.5 5.5-3 1-6.5-2-2-2Z"],
  ["filled", "filled by SQL", "M0-5.5 5.5 4.5H-5.5Z"],
  ["indexed", "index", "M-3.5-5H-1V5H-3.5ZM1-5H3.5V5H1Z"],
  ["metadata", "metadata", "M-2.5 0A2.5 2.5 0 1 1 2.5 0 2.5 2.5 0 1 1-2.5 0Z"],
  ["dropped", "dropped", "M-4-4 4 4M4-4-4 4"],
];

/** The most important first: there may be room for one sign only. */
export function byWeight(events: readonly ColumnEvent[]): readonly ColumnEvent[] {
  const weightOf = ({ change }: ColumnEvent) =>
    change === "dropped" ? -1 : kinds.findIndex(([kind]) => kind === change);
  return events.toSorted((one, other) => weightOf(one) - weightOf(other));
}

export function changeShapes(): readonly SVGElement[] {
  return kinds.map(([kind, , d]) =>
    svg("path", { id: `c-${kind}`, d, "fill-rule": "evenodd", class: kind === "dropped" ? "stroke" : undefined }),
  );
}

export function changeLegend(used: ReadonlySet<Kind>): HTMLElement {
  const items = kinds.flatMap(([kind, words]) => (used.has(kind) ? [html("li", {}, changeSign(kind), words)] : []));
  return html("ul", { class: "legend" }, ...items);
}

export function changeSign(kind: Kind): SVGElement {
  return keySign(`change ${kind}`, `c-${kind}`);
}
