/** Lists archives, and finds their members. Nothing is ever unpacked to the disk. */
import { ToolsError } from "../errors.ts";
import { showName } from "../files/show-name.ts";
import { formatBytes } from "../truncate.ts";
import { type ArchiveMember, toPlainMemberName } from "./archive-member.ts";
import { type RandomAccess, readAt, readChunks, streamChunks, streamFile } from "./byte-source.ts";
import { inflateChunks } from "./inflate.ts";
import { blockBytes, parseTarHeader } from "./tar-header.ts";
import { listTar, readTarMember } from "./tar.ts";
import { readZipDirectory, readZipMember } from "./zip.ts";

export interface Archive {
  /** `zip`, `tar` or `tar.gz`. */
  format: string;
  members: readonly ArchiveMember[];
  /** Sentences about what is wrong or left out. */
  notes: readonly string[];
  /** Reads the content of `members[index]`, which is a file. `name` is what messages call it. */
  read(index: number, name: string): Promise<{ bytes: Buffer; notes: readonly string[] }>;
}

interface ArchiveOptions {
  /** Names the archive in messages. */
  path: string;
  signal: AbortSignal | undefined;
}

/** Undefined for a packed file that is not an archive. */
export async function openArchive(
  file: RandomAccess,
  kind: "zip" | "tar" | "gzip",
  { path, signal }: ArchiveOptions,
): Promise<Archive | undefined> {
  if (kind === "zip") {
    const { members, notes } = await readZipDirectory(file, path);
    const read: Archive["read"] = (index, name) => readZipMember(file, members[index]!, { name, path, signal });
    return { format: "zip", members, notes, read };
  }
  const openStream = () =>
    kind === "tar"
      ? streamFile(file)
      : streamChunks(inflateChunks(readChunks(file), { kind: "gzip", name: path, signal }));
  if (kind === "gzip") {
    const first = openStream();
    const header = parseTarHeader(await first.take(blockBytes).finally(() => first.close()));
    if (!header) return undefined;
  }
  const { members, notes } = await listTar(openStream(), signal);
  const read: Archive["read"] = async (index, name) => {
    const bytes = await readTarMember(openStream(), index, { path, name, signal });
    return { bytes, notes: [] };
  };
  return { format: kind === "tar" ? "tar" : "tar.gz", members, notes, read };
}

/** Whether a file begins as a tar archive does: those have no other mark. */
export const isTar = async (file: RandomAccess): Promise<boolean> =>
  typeof parseTarHeader(await readAt(file, 0, blockBytes)) === "object";

type MemberChoice =
  | { kind: "file"; index: number }
  /** A directory, or the whole archive. */
  | { kind: "list"; members: readonly ArchiveMember[] };

/** Finds what a name means: the last file of that name, or a directory. Throws where it means nothing. Pure. */
export function chooseMember(members: readonly ArchiveMember[], part: string, path: string): MemberChoice {
  const wanted = toPlainMemberName(part);
  if (wanted === "" || wanted === ".") return { kind: "list", members };
  const isNamed = ({ name }: ArchiveMember) => name === part || toPlainMemberName(name) === wanted;
  const index = members.findLastIndex((member) => isNamed(member) && member.kind !== "directory");
  const member = members[index];
  if (member?.kind === "file") return { kind: "file", index };
  if (member) {
    const what = member.remark ?? member.kind;
    throw new ToolsError("not_a_file", `${showName(part)} in ${path} is ${what}, not a file with content.`);
  }
  const below = members.filter(({ name }) => toPlainMemberName(name).startsWith(`${wanted}/`));
  if (below.length > 0 || members.some(isNamed)) return { kind: "list", members: below };
  throw new ToolsError("not_found", `${path} has no member ${showName(part)}. Read ${path} for a list.`);
}

/** Formats the lines above the members. Pure. */
export function formatListingHead(
  { format, notes }: Pick<Archive, "format" | "notes">,
  members: readonly ArchiveMember[],
  path: string,
): string[] {
  const files = members.filter(({ kind }) => kind === "file");
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  const count = `${files.length.toLocaleString("en-US")} file${files.length === 1 ? "" : "s"}`;
  const example = files.length === 0 ? "" : ` Read ${path}#NAME for one of them.`;
  return [
    `[${path}: ${format} archive, ${count}, ${formatBytes(bytes)} unpacked.${example}]`,
    ...notes.map((note) => `[${note}]`),
  ];
}

export const formatMember = ({ name, kind, size, modified = "", remark }: ArchiveMember): string => {
  const shownSize = kind === "directory" || kind === "link" ? "-" : formatSize(size);
  const ending = kind === "directory" && !name.endsWith("/") ? "/" : "";
  const suffix = remark === undefined ? "" : ` (${showName(remark)})`;
  return `${shownSize.padStart(12)} ${modified.padEnd(16)} ${showName(name)}${ending}${suffix}`;
};

const formatSize = (size: number): string => (Number.isFinite(size) ? String(size) : "?");
