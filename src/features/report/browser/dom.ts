/**
 * Builds elements. Whatever comes from a database becomes text or the value of an attribute, and never markup.
 */

export type Child = Node | string | undefined | readonly Child[];

type Attributes = Readonly<Record<string, string | number | true | undefined>>;

/** An element of HTML. Attributes that are undefined are left out. */
export function html<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  return filled(document.createElement(tag), attributes, children);
}

/** An element of SVG. */
export function svg<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[Tag] {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function filled<One extends Element>(element: One, attributes: Attributes, children: readonly Child[]): One {
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined) element.setAttribute(name, value === true ? "" : String(value));
  element.append(...nodesOf(children));
  return element;
}

function nodesOf(children: readonly Child[]): readonly (Node | string)[] {
  return children.flatMap((child): readonly (Node | string)[] => {
    if (child === undefined) return [];
    return typeof child === "string" || child instanceof Node ? [child] : nodesOf(child);
  });
}

/** A name or a piece of code. */
export function code(text: string): HTMLElement {
  return html("code", {}, text);
}

/** A position along a line, for an attribute: it stays right in whatever width. */
export function percent(share: number): string {
  return `${Number((share * 100).toFixed(3))}%`;
}
