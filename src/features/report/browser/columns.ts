/** The tables, with the life of each column as a line through the migrations. */
import { count } from "../../../errors/entry.ts";
import { formatVersion } from "../../../migrations/file-name.ts";
import type { ColumnEvent, ColumnLife, TableLife } from "../columns/column-lives.ts";
import type { ReportDocument } from "../report-document.ts";
import { changeWords } from "../columns/change-words.ts";
import { byWeight, changeLegend, changeSign } from "./column-marks.ts";
import { code, html, percent, svg } from "./dom.ts";
import { isUnfinished } from "./migrations.ts";
import { section } from "./parts.ts";
import { hasAll, type Findable, type Section } from "./search.ts";
import { linkTo, minuteOf, who } from "./words.ts";

/** With more columns, tables are closed at first. */
const mostOpenColumns = 60;
/** How many tables are opened when the search finds columns in them. */
const mostFound = 12;
/** The width of the lines that names along them must fit into, in pixels; and of a character. */
const usualWidth = 520;
const mostLabels = 14;
const characterWidth = 7.2;

/** The migrations from left to right. */
interface Scale {
  readonly at: (version: number) => number;
  /** Where those begin that have not run. */
  readonly now: number;
  readonly isPending: (version: number) => boolean;
  readonly migrations: ReadonlyMap<number, ReportDocument["migrations"][number]>;
  readonly size: number;
}

export function columnsSection(report: ReportDocument): Section | undefined {
  const { tables } = report;
  if (tables.length === 0) return undefined;
  const scale = scaleOf(report);
  const sorted = [
    ...tables.filter(({ dropped }) => dropped === undefined),
    ...tables.filter(({ dropped }) => dropped !== undefined),
  ];
  const columns = tables.reduce((sum, table) => sum + table.columns.length, 0);
  const parts = sorted.map((table) => tablePart(table, scale, columns <= mostOpenColumns));
  const used = new Set(
    tables.flatMap((table) => table.columns.flatMap(({ events }) => events.map(({ change }) => change))),
  );
  const lead = `Each line is a column, from the migration that created it, on the left, to today${scale.now < 1 ? "; dashed, what the pending migrations would do" : ""}. A column opens to show its whole life.`;
  const list = html("div", { class: "tables" }, ...parts.map(({ element }) => element));
  const element = section("columns", "Columns", lead, changeLegend(used), list);
  return { element, noun: "table", found: parts };
}

function scaleOf({ migrations }: ReportDocument): Scale {
  const places = new Map(migrations.map(({ version }, place) => [version, place]));
  const size = migrations.length;
  const first = migrations.findIndex(isUnfinished);
  return {
    at: (version) => ((places.get(version) ?? 0) + 0.5) / size,
    now: first === -1 ? 1 : first / size,
    isPending: (version) => first !== -1 && (places.get(version) ?? 0) >= first,
    migrations: new Map(migrations.map((one) => [one.version, one])),
    size,
  };
}

function tablePart(table: TableLife, scale: Scale, isOpen: boolean): Findable {
  const { name, columns, created, dropped } = table;
  const existing = columns.filter(({ now }) => now !== undefined);
  const words =
    dropped === undefined
      ? `${count(existing.length, "column")}, since ${formatVersion(created)}`
      : `dropped in ${formatVersion(dropped)}`;
  const summary = html("summary", {}, html("h3", {}, code(name)), html("span", { class: "quiet" }, words));
  const details = html("details", { class: dropped === undefined ? "table" : "table gone" }, summary);
  const sorted = [...existing, ...columns.filter(({ now }) => now === undefined)];
  const texts = sorted.map((life) => textOf(name, life));
  const whole = texts.join("\n");
  let rows: readonly HTMLElement[] | undefined;
  const build = () => {
    if (rows !== undefined) return;
    rows = sorted.map((life) => lifeRow(name, life, scale));
    details.append(axisRow(scale), html("div", { class: "lives" }, ...rows));
  };
  details.addEventListener("toggle", () => details.open && build());
  if (isOpen) {
    build();
    details.open = true;
  }
  let wasOpen: boolean | undefined;
  const search = (words: readonly string[], before: number) => {
    const isFound = texts.some((text) => hasAll(text, words));
    if (words.length === 0) {
      details.open = wasOpen ?? details.open;
      wasOpen = undefined;
    } else if (isFound && before < mostFound) {
      wasOpen ??= details.open;
      build();
      details.open = true;
    }
    rows?.forEach((row, at) => (row.hidden = !hasAll(texts[at]!, words)));
    return isFound;
  };
  return { element: details, text: whole, search };
}

function textOf(table: string, { names, events, now }: ColumnLife): string {
  const changes = events.map((event) => `${formatVersion(event.version)} ${changeWords(event)}`);
  return [table, ...names, now?.type ?? "dropped", ...changes].join(" ").toLowerCase();
}

function axisRow({ migrations, at }: Scale): HTMLElement {
  const versions = [...migrations.keys()];
  const step = Math.ceil(versions.length / mostLabels);
  const shown = versions.filter((_, place) => place % step === 0);
  const texts = shown.map((version, place) =>
    svg(
      "text",
      {
        x: percent(at(version)),
        y: 12,
        "text-anchor": place === 0 ? "start" : "middle",
        dx: place === 0 ? -5 : 0,
        class: place % 2 === 1 ? "alternate" : undefined,
      },
      formatVersion(version),
    ),
  );
  return html(
    "div",
    { class: "life axis-row", "aria-hidden": "true" },
    html("span"),
    svg("svg", { class: "track", width: "100%", height: 18 }, ...texts),
    html("span"),
  );
}

function lifeRow(table: string, life: ColumnLife, scale: Scale): HTMLElement {
  const { names, now, events } = life;
  const last = events.at(-1)!;
  const path = now?.path ?? last.path;
  const former = names
    .map((name) => (name.startsWith(`${table}.`) ? name.slice(table.length + 1) : name))
    .filter((name) => name !== path);
  const label = html(
    "span",
    { class: "label" },
    pathLabel(path),
    former.length === 0 ? undefined : html("span", { class: "former" }, `was ${former.join(", ")}`),
  );
  const type = html("span", { class: "type", title: now?.type }, typeText(life, scale));
  const summary = html("summary", { class: "life" }, label, track(life, scale), type);
  const details = html("details", { class: (now ?? life.today) ? "column" : "column gone" }, summary);
  details.addEventListener("toggle", () => {
    if (details.open && details.childElementCount === 1) details.append(lifeList(events, scale));
  });
  return details;
}

/** The type today, and after the pending migrations if they change it. */
function typeText({ now, today, events }: ColumnLife, { isPending }: Scale): string {
  if (now === undefined) {
    const end = `dropped in ${formatVersion(events.at(-1)!.version)}`;
    return today === undefined ? end : `${shortType(today.type)} → ${end} (pending)`;
  }
  const type = shortType(now.type);
  if (isPending(events[0]!.version)) return `${type} (pending)`;
  return today === undefined || today.type === now.type ? type : `${shortType(today.type)} → ${type} (pending)`;
}

/** The fields of a struct are lines of their own. */
function shortType(type: string): string {
  return type.startsWith("struct<") ? `struct${type.slice(type.lastIndexOf(">") + 1)}` : type;
}

/** The struct that a field is in is not what tells it from its neighbours. */
function pathLabel(path: string): HTMLElement {
  const dot = path.lastIndexOf(".");
  if (dot === -1 || path.includes("`")) return code(path);
  return html("code", {}, html("span", { class: "parent" }, path.slice(0, dot + 1)), path.slice(dot + 1));
}

function lifeList(events: readonly ColumnEvent[], { migrations }: Scale): HTMLElement {
  const lines = events.map((event) => {
    const migration = migrations.get(event.version);
    const name =
      migration === undefined ? formatVersion(event.version) : `${formatVersion(event.version)}_${migration.name}`;
    return html(
      "li",
      {},
      changeSign(event.change),
      html("span", {}, changeWords(event)),
      linkTo(event.version, name),
      html("span", { class: "quiet" }, whenOf(migration)),
    );
  });
  return html("ol", { class: "events" }, ...lines);
}

/** When and by whom the migration was run, or marked as applied. */
function whenOf(migration: ReportDocument["migrations"][number] | undefined): string {
  const { at, by, status } = migration ?? {};
  if (at === undefined) return "pending";
  return [
    minuteOf(at),
    ...(by === undefined ? [] : [who(by)]),
    ...(status === "baselined" ? ["marked as applied"] : []),
  ].join(", ");
}

/** The line of a column. What it shows is also in the list, as text. */
function track(life: ColumnLife, scale: Scale): SVGElement {
  const { events, now } = life;
  const from = scale.at(events[0]!.version);
  const until = now === undefined ? scale.at(events.at(-1)!.version) : 1;
  const names = nameTexts(life, scale, until);
  const solid = Math.min(until, scale.now);
  const line = (kind: string, x1: number, x2: number) =>
    x1 < x2 ? svg("line", { class: kind, x1: percent(x1), x2: percent(x2), y1: "50%", y2: "50%" }) : undefined;
  return svg(
    "svg",
    { class: "track", width: "100%", "aria-hidden": "true" },
    svg("rect", { class: "future", x: percent(scale.now), width: percent(1 - scale.now), y: 0, height: "100%" }),
    line("line", from, solid),
    line("line planned", Math.max(from, scale.now), until),
    ...names.map(({ at, text }) => svg("text", { x: percent(at), y: "50%", dx: -5, dy: -10 }, text)),
    ...marksOf(events, scale).map(({ event, at, shift }) =>
      svg(
        "g",
        { class: `change ${event.change}`, transform: shift === 0 ? undefined : `translate(${shift})` },
        svg("title", {}, `${formatVersion(event.version)}: ${changeWords(event)}`),
        svg("use", { href: `#c-${event.change}`, x: percent(at), y: "50%" }),
      ),
    ),
  );
}

interface Mark {
  readonly event: ColumnEvent;
  readonly at: number;
  /** In pixels, beside the one before it of the same migration. */
  readonly shift: number;
}

function marksOf(events: readonly ColumnEvent[], scale: Scale): readonly Mark[] {
  const most = Math.max(1, Math.min(4, Math.floor(usualWidth / scale.size / 15)));
  const groups = Map.groupBy(events, ({ version }) => version);
  return [...groups].flatMap(([version, group]) =>
    byWeight(group)
      .slice(0, most)
      .map((event, place) => ({ event, at: scale.at(version), shift: place * 13 })),
  );
}

/** The names of a column that had several, each above its part of the line, if it fits there. */
function nameTexts(
  { events, names }: ColumnLife,
  scale: Scale,
  until: number,
): readonly { at: number; text: string }[] {
  if (names.length < 2) return [];
  const parts = events.filter(({ change }) => change === "created" || change === "renamed");
  return parts.flatMap(({ path, version }, place) => {
    const at = scale.at(version);
    const next = parts[place + 1];
    const end = next === undefined ? until : scale.at(next.version);
    return (end - at) * usualWidth > path.length * characterWidth + 12 ? [{ at, text: path }] : [];
  });
}
