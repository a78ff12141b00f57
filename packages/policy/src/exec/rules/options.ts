/** Parses the options of programs as getopt does, with abbreviated long options and combined short ones. Pure. */
import type { OptionSpec } from "../programs/program.ts";
import type { Text } from "../shell/text.ts";

export interface ParsedOptions {
  /** Names of all options that were given, without dashes. */
  readonly names: ReadonlySet<string>;
  readonly operands: readonly Text[];
  /** Options that are not in the specification. */
  readonly unknown: readonly string[];
  has(...names: string[]): boolean;
  /** The values of an option under all of its names. */
  get(...names: string[]): readonly Text[];
  /** Returns the values of all names, which are separated by blanks, as records have them; none where there are no names. */
  getAll(names: string | undefined): readonly Text[];
}

export function parseOptions(args: readonly Text[], spec: OptionSpec): ParsedOptions {
  const { short, longs } = readSpec(spec.options ?? "");
  const values = new Map<string, Text[]>();
  const operands: Text[] = [];
  const unknown: string[] = [];
  const add = (name: string, value?: Text) => {
    const list = values.get(name) ?? [];
    if (value) list.push(value);
    values.set(name, list);
  };
  for (let index = 0; index < args.length; index++) {
    const arg = args[index]!;
    const { text } = arg;
    if (text === "--") {
      operands.push(...args.slice(index + 1));
      break;
    }
    const isLong = text.startsWith("--") || (spec.hasSingleDash && /^-\w{2}/.test(text));
    if (isLong) {
      const [, name = "", value] = /^--?([^=]*)(?:=(.*))?$/s.exec(text) ?? [];
      const match = findLong(longs, name);
      if (!match) unknown.push(text);
      const isValued = match?.kind === "=";
      if (value !== undefined) add(match?.name ?? name, { ...arg, text: value });
      else if (isValued && index + 1 < args.length) add(match.name, args[++index]);
      else add(match?.name ?? name);
    } else if (text.length > 1 && text[0] === "-") {
      for (let at = 1; at < text.length; at++) {
        const letter = text[at]!;
        const position = letter === ":" ? -1 : short.indexOf(letter);
        if (position === -1) unknown.push(`-${letter}`);
        if (short[position + 1] !== ":" || position === -1) add(letter);
        else {
          const attached = text.slice(at + 1);
          add(letter, attached === "" ? args[++index] : { ...arg, text: attached });
          break;
        }
      }
    } else {
      operands.push(arg);
      if (spec.stopsAtOperand) {
        operands.push(...args.slice(index + 1));
        break;
      }
    }
  }
  const get = (...names: string[]) => names.flatMap((name) => values.get(name) ?? []);
  return {
    names: new Set(values.keys()),
    operands,
    unknown,
    has: (...names) => names.some((name) => values.has(name)),
    get,
    getAll: (names) => (names === undefined ? [] : get(...names.split(" "))),
  };
}

interface Long {
  name: string;
  kind: "" | "=" | "=?";
}

interface Spec {
  short: string;
  longs: readonly Long[];
}

const specs = new Map<string, Spec>();

function readSpec(options: string): Spec {
  const cached = specs.get(options);
  if (cached) return cached;
  const [letters = "", ...names] = options.split(" ");
  const longs = names.map((part): Long => {
    const [, name = "", kind = ""] = /^(.*?)(=\??)?$/.exec(part)!;
    return { name, kind: kind as Long["kind"] };
  });
  const spec = { short: letters === "-" ? "" : letters, longs };
  specs.set(options, spec);
  return spec;
}

/** The option itself, or the first one that the name abbreviates. */
const findLong = (longs: readonly Long[], name: string) =>
  longs.find((long) => long.name === name) ??
  (name.length > 1 ? longs.find((long) => long.name.startsWith(name)) : undefined);
