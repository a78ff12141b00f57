/** A program that is about to run, as the rules see it. */
import type { Program } from "../programs/program.ts";
import type { Scope } from "../shell/analysis.ts";
import type { Options, Text } from "../shell/text.ts";

export interface Invocation {
  /** The name of the program without its directory. */
  readonly name: string;
  /** The name as it was written, followed by the arguments. */
  readonly words: readonly Text[];
  readonly args: readonly Text[];
}

/** A program with rules, and its record. */
export interface ProgramCall extends Invocation {
  readonly program: Program;
}

/** Judges a program. Returns what it prints, where that is known better than by looking at its input. */
export type Judge = (call: ProgramCall, scope: Scope) => Options<Text> | undefined | void;

/** Arguments that are no options. */
export const getOperands = (args: readonly Text[]): Text[] =>
  args.filter(({ text }) => !/^[-+]./.test(text) || text === "--");

/** Whether a pattern fits one of the arguments. */
export const hasArg = (args: readonly Text[], pattern: RegExp): boolean => args.some(({ text }) => pattern.test(text));

/** Whether a program only says something about itself. */
export const isInformation = (args: readonly Text[]): boolean =>
  args.length > 0 && args.every(({ text }) => /^(?:--help|--version|-V|-h|--usage|-help|-version)$/.test(text));

/** Every entry of a directory that an argument may mean: a link at its end is meant itself. */
export const resolveEntries = (text: Text, scope: Scope): string[] =>
  text.text === "" ? [] : scope.state.resolve(text.text, scope.analysis.context.home, { keepsLast: true });

/** Every path that an argument may mean. An empty one is no path: `rm ""` deletes nothing. */
export const resolveAll = (text: Text, scope: Scope): string[] =>
  text.text === "" ? [] : scope.state.resolve(text.text.replace(/^file:\/\//, ""), scope.analysis.context.home);
