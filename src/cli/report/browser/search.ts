/** The search: shows what has all the words, and hides the rest. */
import { html } from "./dom.ts";

/** Something that the search finds as a whole. */
export interface Findable {
  readonly element: HTMLElement;
  /** In lower case. */
  readonly text: string;
  /**
   * Called with the words that are searched for, none if the search has ended, and with how many before it in the section
   * have them. Returns whether it has them.
   */
  readonly search?: (words: readonly string[], before: number) => boolean;
}

export interface Section {
  readonly element: HTMLElement;
  /** What the search counts here: "migration". */
  readonly noun: string;
  readonly found: readonly Findable[];
}

export function findable(element: HTMLElement, ...texts: readonly (string | undefined)[]): Findable {
  return { element, text: texts.join(" ").toLowerCase() };
}

export function hasAll(text: string, words: readonly string[]): boolean {
  return words.every((word) => text.includes(word));
}

/** The search box, and what it found as text for those who can't see it. */
export function searchBox(sections: readonly Section[]): { readonly form: HTMLElement; readonly clear: () => void } {
  const input = html("input", {
    id: "search",
    type: "search",
    placeholder: "Search",
    autocomplete: "off",
    spellcheck: "false",
    "aria-describedby": "found",
  });
  const found = html("output", { id: "found", for: "search" });
  const run = () => (found.textContent = searched(sections, wordsIn(input.value)));
  const clear = () => {
    if (input.value === "") return;
    input.value = "";
    run();
  };
  input.addEventListener("input", run);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && document.activeElement === input) {
      clear();
      input.blur();
    }
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || document.activeElement === input) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
  const label = html("label", { for: "search", class: "unseen" }, "Search migrations, columns, people and runs");
  const form = html("search", {}, label, input, html("kbd", { "aria-hidden": "true" }, "/"), found);
  return { form, clear };
}

function wordsIn(typed: string): readonly string[] {
  return typed
    .toLowerCase()
    .split(" ")
    .filter((word) => word !== "");
}

function searched(sections: readonly Section[], words: readonly string[]): string {
  document.body.classList.toggle("searching", words.length > 0);
  const counts = sections.map(({ element, noun, found }) => {
    let count = 0;
    for (const { element: one, text, search } of found) {
      const isFound = search === undefined ? hasAll(text, words) : search(words, count);
      one.hidden = !isFound;
      if (isFound) count++;
    }
    element.hidden = count === 0 && words.length > 0;
    return count === 0 ? [] : [`${count} ${noun}${count === 1 ? "" : "s"}`];
  });
  if (words.length === 0) return "";
  return counts.flat().join(", ") || "nothing found";
}
