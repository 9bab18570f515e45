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

/**
 * The search box, and what it found as text for those who can't see it. `search`: shows what has all the words, and returns
 * that text.
 */
export function searchBox(labelText: string, search: (words: readonly string[]) => string) {
  const input = html("input", {
    id: "search",
    type: "search",
    placeholder: "Search",
    autocomplete: "off",
    spellcheck: "false",
    "aria-describedby": "found",
  });
  const found = html("output", { id: "found", for: "search" });
  /** Searches again for the same. */
  const run = () => {
    const words = wordsIn(input.value);
    document.body.classList.toggle("searching", words.length > 0);
    found.textContent = search(words);
  };
  /** Ends the search. */
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
  const label = html("label", { for: "search", class: "unseen" }, labelText);
  const form = html("search", {}, label, input, html("kbd", { "aria-hidden": "true" }, "/"), found);
  return { form, clear, run };
}

function wordsIn(typed: string): readonly string[] {
  return typed
    .toLowerCase()
    .split(" ")
    .filter((word) => word !== "");
}

export function searchSections(sections: readonly Section[], words: readonly string[]): string {
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
