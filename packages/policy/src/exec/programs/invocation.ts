/** A program that is about to run, as the rules see it. */
import type { Scope } from "../shell/analysis.ts";
import type { Options, Text } from "../shell/text.ts";

export interface Invocation {
  /** The name of the program without its directory. */
  readonly name: string;
  /** The name as it was written, followed by the arguments. */
  readonly words: readonly Text[];
  readonly args: readonly Text[];
}

/** Judges a program. Returns what it prints, where that is known better than by looking at its input. */
export type Judge = (invocation: Invocation, scope: Scope) => Options<Text> | undefined | void;

export type Judges = Readonly<Record<string, Judge>>;

/** The same judge for several names. */
export const forNames = (names: string, judge: Judge): Judges =>
  Object.fromEntries(names.split(" ").map((name) => [name, judge]));

/** Arguments that are no options. */
export const getOperands = (args: readonly Text[]): Text[] =>
  args.filter(({ text }) => !/^[-+]./.test(text) || text === "--");

/** Whether a program only says something about itself. */
export const isInformation = (args: readonly Text[]): boolean =>
  args.length > 0 && args.every(({ text }) => /^(?:--help|--version|-V|-h|--usage|-help|-version)$/.test(text));

/** Every entry of a directory that an argument may mean: a link at its end is meant itself. */
export const resolveEntries = (text: Text, scope: Scope): string[] =>
  text.text === "" ? [] : scope.state.resolve(text.text, scope.analysis.context.home, { keepsLast: true });

/** Every path that an argument may mean. An empty one is no path: `rm ""` deletes nothing. */
export const resolveAll = (text: Text, scope: Scope): string[] =>
  text.text === "" ? [] : scope.state.resolve(text.text.replace(/^file:\/\//, ""), scope.analysis.context.home);
