/** Pieces that several sections have. */
import { count } from "../../../errors/entry.ts";
import { html, svg, type Child } from "./dom.ts";

/** A word in a colour, with a sign, so that the colour is not all that tells. */
export type Tone = "good" | "warn" | "bad" | "plain";

const signs: Readonly<Record<Tone, string>> = { good: "✓", warn: "!", bad: "×", plain: "·" };

export function badge(tone: Tone, text: string): HTMLElement {
  return html("span", { class: `badge ${tone}` }, sign(tone), text);
}

export function sign(tone: Tone): HTMLElement {
  return html("span", { class: `sign ${tone}`, "aria-hidden": "true" }, signs[tone]);
}

/** A shape of the page, as a sign in a legend or a list. */
export function keySign(kind: string, shape: string): SVGElement {
  const use = svg("use", { href: `#${shape}` });
  return svg(
    "svg",
    { class: `key ${kind}`, width: 14, height: 14, viewBox: "-7 -7 14 14", "aria-hidden": "true" },
    use,
  );
}

/** A paragraph that must not be missed. */
export function notice(tone: Tone, ...children: readonly Child[]): HTMLElement {
  return html("p", { class: `notice ${tone}` }, sign(tone), html("span", {}, ...children));
}

/** A fact about the state, for a list with the class `state`. */
export function tile(tone: Tone, name: string, value: Child, ...more: readonly Child[]): HTMLElement {
  return html(
    "div",
    { class: tone },
    html("dt", {}, name),
    html("dd", {}, html("strong", {}, tone === "plain" ? undefined : sign(tone), value), html("span", {}, ...more)),
  );
}

export function section(id: string, title: string, intro: Child, ...children: readonly Child[]): HTMLElement {
  const heading = html("h2", { id: `${id}-title` }, title);
  const lead = intro === undefined ? undefined : html("p", { class: "lead" }, intro);
  return html("section", { id, "aria-labelledby": `${id}-title` }, heading, lead, ...children);
}

/** Fills the top of the page: the title, when it was made, and a bar with the links to the sections and the search. */
export function fillHeader(title: string, made: string, search: HTMLElement): void {
  const header = document.querySelector("header")!;
  header.append(html("h1", {}, title), html("p", { class: "made" }, made));
  const links = [...document.querySelectorAll("section[aria-labelledby]")].map((one) =>
    html("li", {}, html("a", { href: `#${one.id}` }, one.querySelector("h2")!.textContent)),
  );
  header.after(
    html("div", { class: "bar" }, html("nav", { "aria-label": "Sections" }, html("ul", {}, ...links)), search),
  );
}

/** How many items of a long list are shown at first. */
const first = 25;

/** A list of which the first items are shown, and the others when asked for, or when the search finds them. */
export function longList(name: string, noun: string, items: readonly HTMLElement[]): readonly Child[] {
  const list = html("ol", { class: name }, ...items);
  if (items.length <= first + 5) return [list];
  list.classList.add("short");
  for (const item of items.slice(first)) item.classList.add("beyond");
  const button = html("button", { type: "button", class: "more" }, `Show all ${count(items.length, noun)}`);
  button.addEventListener("click", () => {
    list.classList.remove("short");
    items[first]!.querySelector("summary")?.focus();
    button.remove();
  });
  return [list, button];
}

/** A table with a heading for each column. The first cell of a row is its name. */
export function grid(headings: readonly string[], rows: readonly (readonly Child[])[]): HTMLElement {
  const head = html("tr", {}, ...headings.map((text) => html("th", { scope: "col" }, text)));
  const body = rows.map(([name, ...cells]) =>
    html("tr", {}, html("th", { scope: "row" }, name), ...cells.map((cell) => html("td", {}, cell))),
  );
  const table = html("table", {}, html("thead", {}, head), html("tbody", {}, ...body));
  // Wider than a phone: it scrolls in its own box, which the keyboard must reach.
  return html("div", { class: "wide", tabindex: 0, role: "group", "aria-label": headings.join(", ") }, table);
}
