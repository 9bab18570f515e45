/** Reads names, words and signs from a text, one after the other. Pure. */
import { MigrateError } from "../../errors/migrate-error.ts";

export type TextReader = ReturnType<typeof textReader>;

/** Its methods throw ERR_NOTATION. `flag` and `form`: the flag and the form of its value, for messages. */
export function textReader(text: string, flag: string, form: string) {
  let at = 0;

  const fail = (problem: string): never => {
    throw new MigrateError("ERR_NOTATION", { flag, text, problem, form });
  };
  const wanted = (what: string): never => {
    const there = text.slice(at).trim();
    return fail(`expected ${what} ${there === "" ? "at its end" : `where "${there}" stands`}`);
  };
  const match = (pattern: RegExp): string | undefined => {
    const [found] = new RegExp(`^\\s*(?:${pattern.source})`, pattern.flags).exec(text.slice(at)) ?? [];
    if (found === undefined) return undefined;
    at += found.length;
    return found.trim();
  };
  const takes = (token: string): boolean =>
    match(/^\w/.test(token) ? new RegExp(`${token.replace(" ", "\\s+")}(?![\\w])`, "i") : new RegExp(`\\${token}`)) !==
    undefined;
  const expect = (token: string): void => {
    if (!takes(token)) wanted(`"${token}"`);
  };

  return {
    fail,
    /** Fails because something else is needed here. */
    wanted,
    /** What the pattern matches here; undefined if it does not. */
    match,
    /** Consumes this sign or word if it comes next. Returns whether it did. */
    takes,
    /** Consumes it. */
    expect,
    /** A name; in backticks or double quotes if it contains a space or one of `.:,()<>[]{}`. */
    name(): string {
      const quoted = match(/`(?:[^`]|``)+`|"(?:[^"]|"")+"/);
      if (quoted !== undefined) return quoted.slice(1, -1).replaceAll(quoted[0]!.repeat(2), quoted[0]!);
      return match(/[^\s`".:,()<>[\]{}]+/) ?? wanted("a name");
    },
    whole: (): number => Number(match(/\d+/) ?? wanted("a number")),
    word: (what: string): string => match(/\w+/) ?? wanted(what),
    /** `<…>` or `(…)`, whichever is easier to type. */
    inside<Value>(read: () => Value): Value {
      const close = takes("<") ? ">" : takes("(") ? ")" : wanted('"<" or "("');
      const value = read();
      expect(close);
      return value;
    },
    commaSeparated<Value>(read: () => Value): readonly Value[] {
      const values = [read()];
      while (takes(",")) values.push(read());
      return values;
    },
    afterComma<Value>(read: () => Value): Value {
      expect(",");
      return read();
    },
    /** The rest of the text, which it consumes. */
    rest(): string {
      const left = text.slice(at);
      at = text.length;
      return left;
    },
    /** Fails if any text is left. */
    end(): void {
      if (text.slice(at).trim() !== "") wanted("its end");
    },
  };
}
