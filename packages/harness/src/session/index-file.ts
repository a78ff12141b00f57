/** The index beside a log: its table as bytes, and what proves that it belongs to the log. Holds no content. */
import { crc32 } from "node:zlib";
import { tryParseJson } from "@tau/ai/internal";
import { EntryTable, nextTurn } from "./entry-table.ts";
import type { Recovered } from "./recover.ts";
import { isCountedRows } from "./totals.ts";

const format = "tau session index 4";

/** The first line after the checksum. */
interface IndexHead extends Omit<Recovered, "table"> {
  format: string;
  /** The identity of the log. */
  identity: string;
  /** The CRC-32 of the log's last bytes. */
  tail: number;
  count: number;
}

/** An index begins with a line of eight hex digits: the checksum of everything after it. */
const checksumLength = 9;

/** How many bytes are summed up before signals and timers are served. */
const bytesPerTurn = 32 * 1024 * 1024;

async function formatChecksum(parts: readonly Buffer[]): Promise<string> {
  let sum = 0;
  for (const part of parts) {
    for (let start = 0; start < part.length; start += bytesPerTurn) {
      if (start > 0) await nextTurn();
      sum = crc32(part.subarray(start, start + bytesPerTurn), sum);
    }
  }
  return `${sum.toString(16).padStart(8, "0")}\n`;
}

/** How many bytes of the log's end the index is compared with. */
export const tailBytes = 4096;

interface IndexProof {
  identity: string;
  /** The last bytes of the log before `end`, at most `tailBytes`. */
  tail: Buffer;
}

/** Takes the state of now; the proof, for which the log has to be read, may follow when the log has grown. */
export function encodeIndex({ table, problems, ...known }: Recovered): (proof: IndexProof) => Promise<Buffer> {
  const columns = table.encode();
  const { count } = table;
  const lasting = problems.filter(({ kind }) => kind !== "torn");
  return async ({ identity, tail }) => {
    const head: IndexHead = { format, identity, ...known, tail: crc32(tail), count, problems: lasting };
    const parts = [Buffer.from(`${JSON.stringify(head)}\n`), ...columns];
    return Buffer.concat([Buffer.from(await formatChecksum(parts)), ...parts]);
  };
}

interface DecodedIndex {
  recovered: Recovered;
  identity: string;
  tail: number;
}

/** Undefined if the index is damaged. `matchesLog` says whether it belongs to the log. */
export async function decodeIndex(bytes: Buffer): Promise<DecodedIndex | undefined> {
  const body = bytes.subarray(checksumLength);
  if (bytes.toString("latin1", 0, checksumLength) !== (await formatChecksum([body]))) return undefined;
  const headEnd = body.indexOf(0x0a);
  const head = headEnd < 0 ? undefined : parseHead(body.toString("utf8", 0, headEnd));
  const table = head && (await EntryTable.decode(body.subarray(headEnd + 1), head.count));
  if (!table) return undefined;
  const { counted, header, problems, unlisted, end, line, identity, tail } = head;
  return { recovered: { table, counted, problems, unlisted, header, end, line }, identity, tail };
}

export const matchesLog = (index: DecodedIndex, { identity, tail }: IndexProof) =>
  index.identity === identity && index.tail === crc32(tail);

function parseHead(text: string): IndexHead | undefined {
  const head = tryParseJson(text) as IndexHead | null | undefined;
  const isValid = head?.format === format && Array.isArray(head.problems) && isCountedRows(head.counted, head.count);
  return isValid ? head : undefined;
}
