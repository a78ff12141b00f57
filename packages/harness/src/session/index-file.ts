/** The index beside a log: its table as bytes, with what proves that it belongs to the log. Never trusted for content. */
import { crc32 } from "node:zlib";
import { EntryTable } from "./entry-table.ts";
import type { Recovered } from "./recover.ts";
import type { SessionProblem } from "./scan.ts";

const format = "tau session index 3";

/** The first line of an index. */
interface IndexHead extends Omit<Recovered, "table" | "problems"> {
  format: string;
  /** Of the log. */
  identity: string;
  tail: number;
  count: number;
  problems: SessionProblem[];
}

/** An index begins with eight digits and a line feed: the checksum of all that follows. */
const sumLength = 9;
const getSum = (bytes: Buffer) => `${crc32(bytes).toString(16).padStart(8, "0")}\n`;

/** How much of the log's end an index remembers. */
export const tailBytes = 4096;

export interface IndexProof {
  identity: string;
  /** The last bytes of the log before `end`, at most `tailBytes`. */
  tail: Buffer;
}

/** What is known is taken now; the proof, for which the log has to be read, may come when more is known. */
export function encodeIndex({ table, problems, ...known }: Recovered): (proof: IndexProof) => Buffer {
  const columns = table.encode();
  const { count } = table;
  const lasting = problems.filter(({ kind }) => kind !== "torn");
  return ({ identity, tail }) => {
    const head: IndexHead = { format, identity, ...known, tail: crc32(tail), count, problems: lasting };
    const bytes = Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), columns]);
    return Buffer.concat([Buffer.from(getSum(bytes)), bytes]);
  };
}

/** An index whose own bytes are whole. Whether it fits the log is for `fits` to say. */
export interface DecodedIndex {
  recovered: Recovered;
  identity: string;
  tail: number;
}

export function decodeIndex(bytes: Buffer): DecodedIndex | undefined {
  const summed = bytes.subarray(sumLength);
  if (bytes.toString("latin1", 0, sumLength) !== getSum(summed)) return undefined;
  const end = summed.indexOf(0x0a);
  const head = end < 0 ? undefined : parseHead(summed.toString("utf8", 0, end));
  const table = head && EntryTable.decode(summed.subarray(end + 1), head.count);
  if (!table) return undefined;
  const { header, problems, unlisted, line, identity, tail } = head;
  return { recovered: { table, problems, unlisted, header, end: head.end, line }, identity, tail };
}

export const fits = (index: DecodedIndex, { identity, tail }: IndexProof) =>
  index.identity === identity && index.tail === crc32(tail);

function parseHead(text: string): IndexHead | undefined {
  try {
    const head = JSON.parse(text) as IndexHead | null;
    return head?.format === format && Array.isArray(head.problems) ? head : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
