/** Reads the source of a sequence diagram. Pure. */
import { toLabel } from "./labels.ts";
import type { Head } from "./parse-flowchart.ts";

/** A row of the diagram, from top to bottom. Numbers are indexes of participants. */
export type SequenceStep =
  | {
      readonly kind: "message";
      readonly from: number;
      readonly to: number;
      readonly label: string;
      readonly startHead: Head;
      readonly endHead: Head;
      readonly isDotted: boolean;
    }
  | { readonly kind: "note"; readonly first: number; readonly last: number; readonly label: string }
  /** The beginning of a block, a part of one, or its end. */
  | { readonly kind: "divider"; readonly label: string };

export interface Sequence {
  /** Labels. */
  readonly participants: readonly string[];
  readonly steps: readonly SequenceStep[];
}

const maxParticipants = 30;
const maxSteps = 300;

const participantLine = /^(?:create\s+)?(?:participant|actor)\s+(.+?)(?:\s+as\s+(.+))?$/;
const messageLine = /^(.+?)\s*(<<)?(--?)(>>|>|x|\))\s*[+-]?\s*([^:]+?)\s*(?::\s*(.*))?$/;
const noteLine = /^note\s+(over|left of|right of)\s+([^:]+?)\s*:\s*(.*)$/i;
const blockLine = /^(loop|alt|else|opt|par|and|critical|option|break)\b\s*(.*)$/;
/** Statements without a row of their own. */
const unseen = /^(?:activate|deactivate|destroy|links?|accTitle|accDescr)\b|^box\b|^rect\b/;
const heads: Readonly<Record<string, Head>> = { ">>": "arrow", ">": "none", x: "cross", ")": "arrow" };

/** Undefined if there is anything in it that cannot be drawn. Without `isComplete` more lines follow. */
export function parseSequence(lines: readonly string[], isComplete: boolean): Sequence | undefined {
  if (!/^sequenceDiagram\s*;?$/.test(lines[0] ?? "")) return undefined;
  const reader = new SequenceReader();
  for (const line of lines.slice(1)) if (!reader.read(line.replace(/;\s*$/, ""))) return undefined;
  return reader.finish(isComplete);
}

class SequenceReader {
  readonly #participants: string[] = [];
  readonly #indexes = new Map<string, number>();
  readonly #steps: SequenceStep[] = [];
  /** Whether the blocks that are open have lines of their own. */
  readonly #blocks: boolean[] = [];
  #isNumbered = false;
  #messageCount = 0;

  /** Reads one line. False if it is not known. */
  read(line: string): boolean {
    if (/^(?:box|rect)\b/.test(line)) this.#blocks.push(false);
    if (unseen.test(line)) return true;
    if (/^autonumber\b/.test(line)) return (this.#isNumbered = true);
    if (line === "end") return this.#endBlock();
    return this.#readParticipant(line) || this.#readBlock(line) || this.#readNote(line) || this.#readMessage(line);
  }

  finish(isComplete: boolean): Sequence | undefined {
    const participants = this.#participants;
    if (participants.length === 0 || participants.length > maxParticipants || this.#steps.length > maxSteps)
      return undefined;
    return isComplete && this.#blocks.length > 0 ? undefined : { participants, steps: this.#steps };
  }

  #endBlock(): boolean {
    const isShown = this.#blocks.pop();
    if (isShown) this.#steps.push({ kind: "divider", label: "end" });
    return isShown !== undefined;
  }

  #readParticipant(line: string): boolean {
    const [matched, name = "", label] = participantLine.exec(line) ?? [];
    if (matched === undefined || name.includes("@{")) return false;
    const index = this.#getParticipant(name);
    if (label !== undefined) this.#participants[index] = toLabel(label);
    return true;
  }

  #readBlock(line: string): boolean {
    const [matched, kind = "", text = ""] = blockLine.exec(line) ?? [];
    if (matched === undefined) return false;
    if (kind === "else" || kind === "and" || kind === "option") {
      if (this.#blocks.length === 0) return false;
    } else this.#blocks.push(true);
    this.#steps.push({ kind: "divider", label: `${kind} ${toLabel(text).replaceAll("\n", " ")}`.trim() });
    return true;
  }

  #readNote(line: string): boolean {
    const [matched, , names = "", text = ""] = noteLine.exec(line) ?? [];
    if (matched === undefined) return false;
    const indexes = names.split(",").map((name) => this.#getParticipant(name.trim()));
    this.#steps.push({ kind: "note", first: Math.min(...indexes), last: Math.max(...indexes), label: toLabel(text) });
    return true;
  }

  #readMessage(line: string): boolean {
    const [matched, from = "", both, dashes, head = "", to = "", text = ""] = messageLine.exec(line) ?? [];
    if (matched === undefined) return false;
    this.#messageCount++;
    const number = this.#isNumbered ? `${this.#messageCount}. ` : "";
    this.#steps.push({
      kind: "message",
      from: this.#getParticipant(from),
      to: this.#getParticipant(to),
      label: `${number}${toLabel(text)}`.trim(),
      startHead: both === undefined ? "none" : "arrow",
      endHead: heads[head] ?? "none",
      isDotted: dashes === "--",
    });
    return true;
  }

  #getParticipant(name: string): number {
    const known = this.#indexes.get(name);
    if (known !== undefined) return known;
    const index = this.#participants.push(toLabel(name)) - 1;
    this.#indexes.set(name, index);
    return index;
  }
}
