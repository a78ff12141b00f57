/** Remembers what a session corrected, decided or learnt. */
import type { FactFile } from "./fact-file.ts";
import { getFactId } from "./fact.ts";
import { judgeProposal } from "./judge-fact.ts";
import { type ModelPort, proposeFacts } from "./propose-facts.ts";
import { findTaint, listSpoken, type LogEntry, type Spoken, type Taint } from "./spoken.ts";

interface SessionLog {
  readonly id: string;
  readonly entries: readonly LogEntry[];
  /** The entry up to which it was looked at; null for none. */
  readonly after: string | null;
}

interface RememberPorts {
  readonly facts: FactFile;
  readonly port: ModelPort;
  readonly hasSecret: (text: string) => boolean;
  /** `2026-01-31` */
  readonly today: string;
  readonly signal?: AbortSignal;
}

const minSaidLength = 20;
const maxKnown = 20;
const maxQueryLength = 4_000;

/** `later` if no model answered. Resolves with how many facts are new or changed. */
export async function rememberSession(
  { id, entries, after }: SessionLog,
  { facts, port, hasSecret, today, signal }: RememberPorts,
): Promise<{ kind: "done"; count: number } | { kind: "later" }> {
  const taint = findTaint(entries);
  const spoken = selectTrusted(listSpoken(entries, after), taint);
  const said = spoken.flatMap(({ by, text }) => (by === "user" ? [text] : [])).join("\n");
  if (said.length < minSaidLength) return { kind: "done", count: 0 };
  const found = await facts.search(said.slice(-maxQueryLength), maxKnown);
  // The model that proposes reads no text of others.
  const known = found.filter(({ fact }) => fact.origin === undefined);
  const proposals = await proposeFacts(spoken, known, { port, signal });
  if (!proposals || signal?.aborted) return { kind: "later" };
  const knownIds = new Set(known.map(({ fact }) => getFactId(fact)));
  let count = 0;
  for (const value of proposals) {
    const proposal = judgeProposal(value, { spoken, hasSecret });
    if (!proposal) continue;
    const { text, kind, replaces } = proposal;
    const fact = { text, kind, date: today, session: id, ...(taint && { origin: taint.detail }) };
    const change = await facts.change({
      kind: "retain",
      fact,
      ...(replaces !== undefined && knownIds.has(replaces) && { replaces }),
    });
    if (change.kind === "added" || change.kind === "replaced") count++;
  }
  return { kind: "done", count };
}

/** After text of others was read, what the model said may be theirs. Where others wrote the prompts, nobody's words are the user's. */
function selectTrusted(spoken: readonly Spoken[], taint: Taint | undefined): readonly Spoken[] {
  if (!taint) return spoken;
  return taint.source === "message" ? [] : spoken.filter(({ by }) => by === "user");
}
