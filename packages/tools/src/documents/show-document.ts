/** Shows what is neither a text nor an image: archives and their members, notebooks, PDFs and databases. */
import type { AgentToolResult } from "@tau/agent";
import { ToolsError } from "../errors.ts";
import { type ImageLimits, prepareImage } from "../files/image.ts";
import { readLines } from "../files/lines.ts";
import { chooseLines, presentLines, type ReadDetails } from "../files/show-lines.ts";
import { showName } from "../files/show-name.ts";
import { detectImageType, headBytes, refuseBinary, refuseZeros } from "../files/sniff.ts";
import type { ThreadLimits } from "../files/thread.ts";
import type { Files, ReadableFile } from "../platform/files.ts";
import { defaultMaxBytes, defaultMaxLines } from "../truncate.ts";
import { type Archive, chooseMember, formatListingHead, formatMember, isTar, openArchive } from "./archive.ts";
import { type RandomAccess, readAt, toRandomAccess } from "./byte-source.ts";
import { detectDocument, type DocumentKind } from "./kind.ts";
import { maxNotebookBytes, readNotebook } from "./notebook.ts";

interface DocumentRequest extends ThreadLimits {
  files: Files;
  file: ReadableFile;
  path: string;
  /** Names the file, or the part of it, in messages. */
  name: string;
  /** The text after `#` that names a part of the file; undefined for all of it. */
  part: string | undefined;
  offset: number;
  /** Undefined where the call does not say it. */
  limit: number | undefined;
  image: ImageLimits & { resizes: boolean };
}

type Shown = AgentToolResult<ReadDetails>;

/** Undefined for a file that is something else after all. */
export async function showDocument(kind: DocumentKind, request: DocumentRequest): Promise<Shown | undefined> {
  const { file, name, part } = request;
  switch (kind) {
    case "zip":
    case "gzip":
    case "tar": {
      if (kind === "tar" && !(await isTar(file))) return undefined;
      const archive = await openArchive(file, kind, { path: name, signal: request.signal });
      if (archive) return await showArchive(archive, request);
      throw new ToolsError("binary", `${name} is compressed with gzip, and is no archive. Use zcat in bash.`);
    }
    case "notebook":
      if (part !== undefined) return undefined;
      return await showNotebook(await readAt(file, 0, maxNotebookBytes + 1), request);
    case "pdf":
      if (part !== undefined) return undefined;
      return await loadAndShowPdf(file, request);
    case "sqlite": {
      const { showDatabase } = await import("./show-database.ts");
      return await showDatabase(request);
    }
  }
}

async function showArchive(archive: Archive, request: DocumentRequest): Promise<Shown> {
  const { name: path, part = "" } = request;
  const choice = chooseMember(archive.members, part, path);
  if (choice.kind === "list") {
    const head = formatListingHead(archive, choice.members, path);
    const getLine = (index: number) => head[index] ?? formatMember(choice.members[index - head.length]!);
    const { offset, limit } = request;
    const range = { offset, maxLines: Math.min(limit ?? defaultMaxLines, defaultMaxLines) };
    return presentLines(chooseLines(head.length + choice.members.length, getLine, range), request.path, range);
  }
  const name = `${path}#${showName(part)}`;
  const { bytes, notes } = await archive.read(choice.index, name);
  const shown = await showMember(bytes, { ...request, name });
  const remarks = notes.map((note) => ({ type: "text" as const, text: `[${note}]` }));
  return { ...shown, content: [...shown.content, ...remarks] };
}

/** A member is shown as a file of its name is, but for archives: those are not opened inside of each other. */
async function showMember(bytes: Buffer, request: DocumentRequest): Promise<Shown> {
  const { name, path, part, image } = request;
  const head = bytes.subarray(0, headBytes);
  const type = detectImageType(head);
  if (type) {
    const prepared = await prepareImage(bytes, type, { ...image, ...request, path: name });
    const text = prepared.note ?? `[An image, ${type}.]`;
    return { content: [{ type: "text", text }, prepared.image], details: { path, firstLine: 1, shownLines: 0 } };
  }
  const kind = detectDocument(head, part ?? "");
  const isArchive = kind === "zip" || kind === "gzip" || (kind === "tar" && (await isTar(toRandomAccess(bytes))));
  // Only a file on the disk can be opened by SQLite.
  if (kind === "sqlite") throw new ToolsError("binary", `${name} is a database in an archive. Unpack it with bash.`);
  if (isArchive) throw new ToolsError("binary", `${name} is an archive in an archive. Unpack it with bash.`);
  if (kind === "pdf") return await loadAndShowPdf(toRandomAccess(bytes), request);
  return (kind === "notebook" && (await showNotebook(bytes, request))) || (await showText(bytes, request));
}

async function loadAndShowPdf(file: RandomAccess, request: DocumentRequest): Promise<Shown> {
  const { showPdf } = await import("./show-pdf.ts");
  return await showPdf((max) => readAt(file, 0, max), { ...request, size: file.size });
}

async function showNotebook(bytes: Buffer, request: DocumentRequest): Promise<Shown | undefined> {
  const text = await readNotebook(bytes, request.name, request);
  return text === undefined ? undefined : await showText(Buffer.from(text), request);
}

/** Shows a part of a text by its lines, as that of a file. */
async function showText(bytes: Buffer, { name, path, offset, limit, signal }: DocumentRequest): Promise<Shown> {
  refuseBinary(bytes.subarray(0, headBytes), name, bytes.length);
  const maxLines = Math.min(limit ?? defaultMaxLines, defaultMaxLines);
  const window = await readLines(toRandomAccess(bytes), { offset, maxLines, maxBytes: defaultMaxBytes, signal });
  for (const line of window.lines) refuseZeros(line, name, bytes.length);
  return presentLines(window, path, { offset });
}
