/** The rows of the corpus. They are data: nothing here may ever run them. */
import { readFileSync } from "node:fs";
import type { ExecClass, ExecContext, ExecTier } from "../../src/exec/classification.ts";

export interface CorpusRow {
  cmd: string;
  class: ExecClass | null;
  tier: ExecTier;
  note: string;
}

/** The context that the rows assume. */
export const corpusContext: ExecContext = { cwd: "/src/app", home: "/home/me", workspace: "/src/app" };

const readRows = (name: string): CorpusRow[] =>
  readFileSync(new URL(name, import.meta.url), "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as CorpusRow);

export const denyRows = readRows("exec-deny.jsonl");
export const allowRows = readRows("exec-allow.jsonl");
/** More forms of the same classes, and more commands that only look like them. */
export const ownDenyRows = readRows("own-deny.jsonl");
export const ownAllowRows = readRows("own-allow.jsonl");

/** Commands that people run all day, one on each line. */
export const ordinaryCommands = readFileSync(new URL("ordinary.txt", import.meta.url), "utf8")
  .trim()
  .split("\n");
