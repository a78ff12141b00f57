/** Reads a tar archive from its beginning to its end. No number in it is trusted. */
import { refuseAborted } from "../files/abort.ts";
import { ToolsError } from "../errors.ts";
import { type ArchiveMember, damagedArchive, maxMembers } from "./archive-member.ts";
import type { ByteStream } from "./byte-source.ts";
import { refuseBomb } from "./inflate.ts";
import { blockBytes, parseTarHeader, parseTarRecords, type TarHeader, toTarMember } from "./tar-header.ts";

interface TarListing {
  members: readonly ArchiveMember[];
  /** Sentences about what is wrong or left out. */
  notes: readonly string[];
}

/** A name or a target of a link is not larger. */
const maxRecordBytes = 1024 * 1024;
/** Each member may have several headers before it. */
const maxHeaders = 4 * maxMembers;

type Step = { kind: "member"; header: TarHeader } | { kind: "end" } | { kind: "damaged"; what: string };

/** Finds the next member, with what the headers before it say of it. The stream is then at its content. */
function createTarReader(stream: ByteStream, signal: AbortSignal | undefined): () => Promise<Step> {
  let headers = 0;
  /** Takes a short content, with what fills its last block. */
  const takeRecord = async (size: number): Promise<Buffer | undefined> => {
    if (size > maxRecordBytes) return undefined;
    const bytes = await stream.take(toBlocks(size));
    return bytes.length < size ? undefined : bytes.subarray(0, size);
  };
  return async () => {
    const own = new Map<string, string>();
    for (;;) {
      refuseAborted(signal);
      if (++headers > maxHeaders) return { kind: "damaged", what: "it has too many headers" };
      const block = await stream.take(blockBytes);
      if (block.length === 0) return { kind: "end" };
      const header = parseTarHeader(block);
      if (header === "end") return { kind: "end" };
      if (!header) return { kind: "damaged", what: block.length < blockBytes ? "it was cut off" : "a header is wrong" };
      const isText = header.type === "L" || header.type === "K";
      const isRecords = header.type === "x" || header.type === "g";
      if (!isText && !isRecords) {
        for (let isMap = header.hasMoreMap; isMap;) isMap = (await stream.take(blockBytes))[504] === 1;
        return applyRecords(header, own);
      }
      const record = await takeRecord(header.size);
      if (!record) return { kind: "damaged", what: "a header is cut off, or too large" };
      if (isText) own.set(header.type === "L" ? "path" : "linkpath", record.toString("utf8").replace(/\0.*$/s, ""));
      // Those of the whole archive say nothing that is shown.
      if (header.type !== "x") continue;
      const records = parseTarRecords(record);
      if (!records) return { kind: "damaged", what: "a header is wrong" };
      for (const [key, value] of records) own.set(key, value);
    }
  };
}

function applyRecords(header: TarHeader, records: ReadonlyMap<string, string>): Step {
  const size = records.has("size") ? Number(records.get("size")) : header.size;
  if (!Number.isSafeInteger(size) || size < 0) return { kind: "damaged", what: "a size is wrong" };
  const isSparse = [...records.keys()].some((key) => key.startsWith("GNU.sparse."));
  const name = records.get("GNU.sparse.name") ?? records.get("path") ?? header.name;
  const modifiedSeconds = Number(records.get("mtime") ?? header.modifiedSeconds);
  const linkTarget = records.get("linkpath") ?? header.linkTarget;
  const type = isSparse ? "S" : header.type;
  return { kind: "member", header: { ...header, type, name, size, modifiedSeconds, linkTarget } };
}

const toBlocks = (size: number): number => Math.ceil(size / blockBytes) * blockBytes;

/** How many bytes follow the headers of a member. */
const getContentBytes = ({ type, size }: TarHeader): number =>
  ["1", "2", "3", "4", "5", "6"].includes(type) ? 0 : size;

export async function listTar(stream: ByteStream, signal: AbortSignal | undefined): Promise<TarListing> {
  const members: ArchiveMember[] = [];
  const stop = (what: string): TarListing => ({ members, notes: [`It is damaged, or not read further: ${what}.`] });
  try {
    const next = createTarReader(stream, signal);
    for (;;) {
      const step = await next();
      if (step.kind === "end") return { members, notes: [] };
      if (step.kind === "damaged") return stop(step.what);
      if (members.length === maxMembers)
        return { members, notes: [`Only the first ${maxMembers.toLocaleString("en-US")} members are listed.`] };
      members.push(toTarMember(step.header));
      const size = getContentBytes(step.header);
      // What fills the last block may be missing.
      if ((await stream.skip(toBlocks(size))) < size) return stop(`${step.header.name} is cut off`);
    }
  } catch (error) {
    // A packed archive may be damaged, or become too large, after a part that can be listed.
    if (!(error instanceof ToolsError) || error.code === "aborted" || members.length === 0) throw error;
    return { members, notes: [error.message] };
  } finally {
    await stream.close();
  }
}

/** The content of the file that is the member with this index in the listing. */
export async function readTarMember(
  stream: ByteStream,
  index: number,
  { path, name, signal }: { path: string; name: string; signal: AbortSignal | undefined },
): Promise<Buffer> {
  try {
    const next = createTarReader(stream, signal);
    for (let count = 0; ; count++) {
      const step = await next();
      if (step.kind !== "member") throw damagedArchive(path, "it has changed while it was read");
      const size = getContentBytes(step.header);
      if (count < index) {
        await stream.skip(toBlocks(size));
        continue;
      }
      refuseBomb({ packedBytes: size, unpackedBytes: size }, name);
      const bytes = await stream.take(size);
      if (bytes.length < size) throw damagedArchive(path, `${name} is cut off`);
      return bytes;
    }
  } finally {
    await stream.close();
  }
}
