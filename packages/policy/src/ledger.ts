/**
 * The audit ledger: `record/audit` of a storage, by default `audit.jsonl` in the user's directory. It has one line for each decision that a person may want to look at
 * later. Each line has the hash of the line before it, so a line that is changed or removed breaks the chain. It has hashes
 * of what was asked for, not the text: that may be secret.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { type Clock, type Ids, systemClock, systemIds } from "@tau/ai";
import { isRecord, tryParseJson } from "@tau/ai/internal";
import { type FileSystem, nodeFileSystem } from "@tau/tools/platform";
import { createRecordFiles, type LogStore, type Storage, withLog } from "@tau/tools/storage";

interface LedgerOptions {
  agentDir: string;
  /** Default: files in `agentDir`. */
  storage?: Storage;
  fileSystem?: FileSystem;
  clock?: Clock;
  ids?: Ids;
}

/** The fact that is written down. Plain JSON, without secrets. */
export interface LedgerFact {
  /** Such as `decision` or `trust`. */
  readonly event: string;
  readonly [name: string]: string | number | boolean | undefined;
}

/** A line of the ledger. */
export interface LedgerRecord extends LedgerFact {
  /** From 1. */
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly ts: number;
  /** The hash of the line before; of the first line, 64 zeros. */
  readonly prev: string;
  /** The hash of this line without this field. */
  readonly hash: string;
}

export const getLedgerPath = (agentDir: string): string => join(agentDir, "audit.jsonl");

/** Identifies what was asked for, without saying it. */
export const hashForLedger = (value: unknown): string =>
  createHash("sha256").update(JSON.stringify(value)).digest("hex");

const noHash = "0".repeat(64);

/**
 * Adds a line, which is durable when this resolves. A last line that was cut off by a crash is set aside first, and a
 * record with the event `repair` says so.
 */
export async function appendToLedger(fact: LedgerFact, options: LedgerOptions): Promise<void> {
  const { agentDir, fileSystem = nodeFileSystem, clock = systemClock, ids = systemIds } = options;
  const { storage = createRecordFiles({ agentDir, fileSystem, clock, ids }) } = options;
  await withLog({ storage, key: "record/audit", clock }, async (store) => {
    const end = await readEnd(store);
    const facts = end.tornBytes === 0 ? [fact] : [{ event: "repair", lostBytes: end.tornBytes }, fact];
    let { seq, hash } = end;
    let lines = "";
    for (const each of facts) {
      const record = seal({ ...each, seq: ++seq, ts: clock.now(), prev: hash });
      hash = record.hash;
      lines += `${JSON.stringify(record)}\n`;
    }
    if (end.tornBytes > 0) await store.cut(end.size);
    return await store.append(Buffer.from(lines), { position: end.size, sync: true });
  });
}

const seal = <T extends LedgerFact>(fields: T): T & { hash: string } => ({ ...fields, hash: hashForLedger(fields) });

interface LedgerEnd {
  seq: number;
  hash: string;
  /** Without what was cut off. */
  size: number;
  tornBytes: number;
}

/** More than a record has. */
const maxRecordBytes = 64 * 1024;

async function readEnd(store: LogStore): Promise<LedgerEnd> {
  const size = (await store.stat())?.size ?? 0;
  const start = Math.max(0, size - 2 * maxRecordBytes);
  const bytes = await store.read(start, size - start);
  const wholeSize = bytes.lastIndexOf("\n") + 1;
  const tornBytes = bytes.length - wholeSize;
  const last = bytes.subarray(0, wholeSize).toString("utf8").trimEnd().split("\n").at(-1)!;
  const record = parseRecord(last);
  // After a damaged line the chain begins anew; `verifyLedger` reports it.
  return { seq: record?.seq ?? 0, hash: record?.hash ?? noHash, size: size - tornBytes, tornBytes };
}

function parseRecord(line: string): LedgerRecord | undefined {
  const value = tryParseJson(line);
  if (!isRecord(value) || typeof value["seq"] !== "number" || typeof value["hash"] !== "string") return undefined;
  return value as unknown as LedgerRecord;
}

/** Describes what is wrong with a line. `line` is its number, from 1. */
export interface LedgerProblem {
  readonly line: number;
  readonly kind: "not_a_record" | "changed" | "chain_broken" | "torn";
}

interface LedgerReport {
  readonly records: readonly LedgerRecord[];
  readonly problems: readonly LedgerProblem[];
}

/** Checks the text of a ledger: every line whole, unchanged, and after the one that it names. Pure. */
export function verifyLedger(text: string): LedgerReport {
  const lines = text.split("\n");
  const torn = lines.pop() ?? "";
  const records: LedgerRecord[] = [];
  const problems: LedgerProblem[] = [];
  let expected = { seq: 1, prev: noHash };
  for (const [index, content] of lines.entries()) {
    const line = index + 1;
    const record = parseRecord(content);
    if (!record) {
      problems.push({ line, kind: "not_a_record" });
      continue;
    }
    const { hash, ...fields } = record;
    if (hashForLedger(fields) !== hash) problems.push({ line, kind: "changed" });
    else if (record.prev !== expected.prev || record.seq !== expected.seq)
      problems.push({ line, kind: "chain_broken" });
    records.push(record);
    expected = { seq: record.seq + 1, prev: hash };
  }
  if (torn !== "") problems.push({ line: lines.length + 1, kind: "torn" });
  return { records, problems };
}
