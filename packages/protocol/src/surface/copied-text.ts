/** Chooses what `/copy` copies: the last answer, or a block of code in it. Pure. */
import { pluralise } from "./format.ts";

interface CodeBlock {
  readonly language: string;
  readonly text: string;
}

export type CopiedText =
  | { readonly kind: "copied"; readonly text: string; readonly message: string }
  | { readonly kind: "refused"; readonly message: string };

/** `argument` is what follows the command: nothing, or the number of a block, from 1. */
export function chooseCopiedText(answer: string, blocks: readonly CodeBlock[], argument: string): CopiedText {
  if (argument === "") return { kind: "copied", text: answer, message: "Copied." };
  const number = /^[1-9]\d*$/.test(argument) ? Number(argument) : 0;
  const block = blocks[number - 1];
  if (block) return { kind: "copied", text: block.text, message: `Copied block ${number} of ${blocks.length}.` };
  const which = blocks.length === 0 ? "" : blocks.length === 1 ? ": /copy 1" : `: /copy 1 to /copy ${blocks.length}`;
  const count = blocks.length === 0 ? "no block" : pluralise(blocks.length, "block");
  return { kind: "refused", message: `The last answer has ${count} of code${which}.` };
}

const maxLine = 60;

/** Describes a block in a list: its language and its first line. */
export function describeCodeBlock({ language, text }: CodeBlock): string {
  const line = text.trim().split("\n", 1)[0]!;
  const shown = line.length > maxLine ? `${line.slice(0, maxLine - 1).toWellFormed()}…` : line;
  return language === "" ? shown : `${language}: ${shown}`;
}
