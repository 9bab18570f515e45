/** Draws filters: all operators, many functions, each kind of column. */
import type { Chance } from "../simulate/seeded-random.ts";
import { genres, words } from "./tables.ts";

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

export function drawFilter(chance: Chance, depth = 0): string {
  if (depth < 3 && chance.happens(0.35)) {
    const [left, right] = [drawFilter(chance, depth + 1), drawFilter(chance, depth + 1)];
    return chance.pick([`(${left}) and (${right})`, `(${left}) or (${right})`, `not (${left})`]);
  }
  return chance.pick(conditions)(chance);
}

const compared = (chance: Chance) => chance.pick(["=", "!=", "<>", "<", "<=", ">", ">="]);
const number = (chance: Chance) => chance.below(50) - 10;
const numbers = (chance: Chance) => Array.from({ length: 1 + chance.below(5) }, () => number(chance)).join(", ");
const word = (chance: Chance) => quoted(chance.pick(words));
const genre = (chance: Chance) => quoted(chance.pick(genres));
const date = (chance: Chance) => `202${chance.below(5)}-0${1 + chance.below(9)}-1${chance.below(10)}`;
const tag = (chance: Chance) => quoted(chance.pick(["red", "green", "blue", "none"]));

const conditions: readonly ((chance: Chance) => string)[] = [
  (chance) => `id ${compared(chance)} ${chance.below(440)}`,
  (chance) => `id between ${chance.below(200)} and ${chance.below(440)}`,
  (chance) => `id in (${numbers(chance)})`,
  (chance) => `n ${compared(chance)} ${number(chance)}`,
  (chance) => `n not in (${numbers(chance)})`,
  (chance) => `n not between ${number(chance)} and 30`,
  (chance) => `n % ${2 + chance.below(4)} = ${chance.below(2)}`,
  (chance) =>
    `${chance.pick(["n", "title", "flag", "tags", "vector", "author.name", "price"])} is ${chance.pick(["", "not "])}null`,
  (chance) => `n + small * 2 ${compared(chance)} ${number(chance)}`,
  (chance) => `- n ${compared(chance)} small`,
  (chance) => `large ${compared(chance)} ${2n ** 60n + BigInt(chance.below(20))}`,
  (chance) => `ratio ${compared(chance)} ${chance.pick(["0.5", "-3.25", "1e6", "0"])}`,
  (chance) => `abs(ratio) < ${chance.below(100)}.5`,
  (chance) => `round(ratio) ${compared(chance)} ${number(chance)}`,
  (chance) => `real ${compared(chance)} ${chance.next().toFixed(3)}`,
  (chance) =>
    chance.pick(["flag", "not flag", "flag = true", "flag is true", "flag is not false", "true", "false", "1 = 1"]),
  (chance) => `genre ${compared(chance)} ${genre(chance)}`,
  (chance) => `genre in (${genre(chance)}, ${genre(chance)})`,
  (chance) => `lower(genre) = ${quoted(chance.pick(genres).toLowerCase())}`,
  (chance) => `title ${chance.pick(["like", "not like", "ilike"])} ${quoted(`%${chance.pick(words).slice(0, 3)}%`)}`,
  (chance) => `title like ${quoted(`${chance.pick(words).slice(0, 2)}_%`)}`,
  (chance) => `starts_with(title, ${word(chance)})`,
  (chance) => `contains(title, ${word(chance)})`,
  (chance) => `contains_tokens(title, ${word(chance)})`,
  (chance) => `regexp_match(title, ${quoted(chance.pick(["^the", "o[gx]$", "qu.ck", "[A-Z]"]))})`,
  (chance) => `length(title) ${compared(chance)} ${chance.below(30)}`,
  (chance) => `left(title, 3) = ${quoted(chance.pick(words).slice(0, 3))}`,
  (chance) => `coalesce(title, body) like ${quoted(`%${chance.pick(words)}%`)}`,
  (chance) => `concat(genre, '!') = ${quoted(`${chance.pick(genres)}!`)}`,
  () => "btrim(body) <> ''",
  (chance) => `\`camelCase\` = ${word(chance)}`,
  (chance) => `\`odd name\` > ${chance.below(9)}`,
  (chance) => `camelCase = ${word(chance)}`,
  (chance) => `at ${compared(chance)} timestamp '${date(chance)} 10:00:00'`,
  (chance) => `day ${compared(chance)} date '${date(chance)}'`,
  (chance) => `zoned ${compared(chance)} timestamp '${date(chance)} 10:00:00'`,
  (chance) => `date_part('year', at) = 202${chance.below(5)}`,
  (chance) => `date_trunc('month', at) = timestamp '2021-0${1 + chance.below(9)}-01 00:00:00'`,
  (chance) => `price ${compared(chance)} ${chance.below(100)}.25`,
  (chance) => `price ${compared(chance)} cast('0.50' as decimal(12, 2))`,
  (chance) => `cents ${compared(chance)} ${chance.below(3)}`,
  (chance) => `data = X'0${chance.below(4)}0${chance.below(4)}'`,
  (chance) => `array_has(tags, ${tag(chance)})`,
  (chance) => `array_has_any(tags, [${tag(chance)}, ${tag(chance)}])`,
  (chance) => `array_has_all(tags, [${tag(chance)}, ${tag(chance)}])`,
  (chance) => `array_contains(marks, ${chance.below(6)})`,
  (chance) => `array_length(marks) > ${chance.below(3)}`,
  (chance) => `marks[1] = ${chance.below(6)}`,
  (chance) => `author.born ${compared(chance)} ${1900 + chance.below(90)}`,
  (chance) => `author.place.city = ${quoted(chance.pick(["Rome", "Oslo", "東京"]))}`,
  (chance) => `author['name'] like ${quoted(`%${chance.pick(words)}%`)}`,
  (chance) => `nullif(n, ${number(chance)}) is null`,
  (chance) => `cast(n as string) like '${chance.below(5)}%'`,
  (chance) => `cast(genre as int) ${compared(chance)} 3`,
  (chance) => `greatest(n, small) > ${number(chance)}`,
  (chance) => `_rowid ${compared(chance)} ${chance.below(300)}`,
  // Refused, by both.
  (chance) =>
    chance.pick([
      "missing = 1",
      "trim(body) = 'a'",
      "case when n > 5 then flag end",
      "n ==",
      "n = 'x'",
      "nofunction(n) = 1",
      "",
      " ",
      "id",
      "title",
      "n = 1; drop",
      "sum(n) > 1",
    ]),
];
