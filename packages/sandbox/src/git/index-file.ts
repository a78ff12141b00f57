/** Reads from the index of git which other repositories a working tree has entries for. Pure. */

const headerBytes = 12;
const modeOffset = 24;
/** The part of an entry up to the hash of its content. */
const statBytes = 40;
const hashBytes = [20, 32];
const repositoryMode = 0o160000;
const repositoryBytes = Buffer.from([0, 0, 0xe0, 0]);
const hasMoreFlags = 0x4000;
/** No system opens longer paths. A command can write an index whose names grow with each entry. */
const maxPathBytes = 4_096;

/**
 * Paths of entries that are repositories, relative to the working tree. `shared`: the indexes that this one may be split from;
 * an entry without a name has that of one of theirs, so all of them are taken then.
 */
export function findLinkedPaths(index: Buffer, shared: readonly Buffer[] = []): string[] {
  const all = [index, ...shared].filter((bytes) => bytes.includes(repositoryBytes));
  const linked = all.flatMap((bytes) => listEntries(bytes).filter(({ mode }) => mode === repositoryMode));
  const isNameless = linked.some(({ path }) => path === "");
  const named = isNameless ? shared.flatMap(listEntries) : [];
  return [...new Set([...linked, ...named].map(({ path }) => path))].filter((path) => path !== "");
}

interface Entry {
  mode: number;
  path: string;
}

/** Whether hashes have 20 or 32 bytes is a setting of the repository, so both are tried. */
const listEntries = (bytes: Buffer): Entry[] => hashBytes.flatMap((size) => listEntriesBy(bytes, size));

function listEntriesBy(bytes: Buffer, hashSize: number): Entry[] {
  const entries: Entry[] = [];
  if (bytes.length < headerBytes || bytes.toString("latin1", 0, 4) !== "DIRC") return entries;
  const version = bytes.readUInt32BE(4);
  const count = bytes.readUInt32BE(8);
  let start = headerBytes;
  let previous: Buffer = Buffer.alloc(0);
  while (entries.length < count) {
    const flagsAt = start + statBytes + hashSize;
    if (flagsAt + 4 > bytes.length) break;
    const hasMore = version >= 3 && (bytes.readUInt16BE(flagsAt) & hasMoreFlags) !== 0;
    let nameAt = flagsAt + (hasMore ? 4 : 2);
    let kept: Buffer = Buffer.alloc(0);
    if (version === 4) {
      const { value, end } = readNumber(bytes, nameAt);
      // The last version writes how many bytes of the name before are not part of this one.
      kept = previous.subarray(0, Math.max(0, previous.length - value));
      nameAt = end;
    }
    const nameEnd = bytes.indexOf(0, nameAt);
    if (nameEnd === -1) break;
    if (kept.length + nameEnd - nameAt > maxPathBytes) break;
    previous = Buffer.concat([kept, bytes.subarray(nameAt, nameEnd)]);
    entries.push({ mode: bytes.readUInt32BE(start + modeOffset), path: previous.toString() });
    // Other versions fill an entry up to eight bytes, with one at least.
    start = version === 4 ? nameEnd + 1 : start + Math.ceil((nameEnd + 1 - start) / 8) * 8;
  }
  return entries;
}

/** A number of any length, as git writes it: seven bits in each byte, the first ones first. */
function readNumber(bytes: Buffer, start: number): { value: number; end: number } {
  let end = start;
  let value = (bytes[end] ?? 0) & 0x7f;
  while (((bytes[end] ?? 0) & 0x80) !== 0) {
    end++;
    value = (value + 1) * 128 + ((bytes[end] ?? 0) & 0x7f);
  }
  return { value, end: end + 1 };
}
