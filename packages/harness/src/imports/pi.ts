/** Sessions of pi and of oh-my-pi: the format of our own logs, with a few more kinds of lines in the latter. */
import { join } from "node:path";
import { isRecord } from "@tau/ai/internal";
import { orUndefined, readWhole } from "@tau/tools/durable";
import { nodeFileSystem } from "@tau/tools/platform";
import { withoutChecksum } from "@tau/protocol";
import { isHeader, type SessionEntry } from "../session/entry.ts";
import { createMigration, getVersion, idOfLine, type Migration, type RawEntry } from "../session/migrate.ts";
import { type Conversion, type ConvertedInfo, Notes, noteTexts } from "./conversion.ts";
import { type ForeignRecord, getText, getTime, parseRecord, toTextBlock } from "./foreign-values.ts";
import { readLines, type ReadLinesOptions } from "./read-lines.ts";

/** Lines of oh-my-pi that only keep track of its own state. */
const ompStateTypes = new Set(
  "title title_change service_tier_change ttsr_injection credential_pin session_init mode_change reset_boundary".split(
    " ",
  ),
);

interface ConvertPiOptions extends ReadLinesOptions {
  /** Where oh-my-pi keeps images. */
  blobsDir?: string;
}

export function convertPi(path: string, { blobsDir, ...options }: ConvertPiOptions = {}): Conversion {
  const notes = new Notes();
  const info: ConvertedInfo = { cwd: "", started: undefined };
  /** The entries that are left out, with those before them. */
  const leftOut = new Map<string, string | null>();
  const ids = new Set<string>();
  let migrate: Migration | undefined;
  let last: string | null = null;

  const readState = (line: ForeignRecord, parentId: string | null) => {
    if (line["type"] === "title" || line["type"] === "title_change") info.name = getText(line["title"]) || info.name;
    // What follows a cleared conversation begins another one.
    if (typeof line["id"] === "string") leftOut.set(line["id"], line["type"] === "reset_boundary" ? null : parentId);
  };
  const findParent = (id: unknown): string | null => {
    if (id === null) return null;
    if (typeof id !== "string") return last;
    if (leftOut.has(id)) return leftOut.get(id)!;
    return ids.has(id) ? id : last;
  };
  const convert = async (line: RawEntry, lineNumber: number): Promise<SessionEntry | undefined> => {
    if (line.type === "session") {
      if (!isHeader(line) || info.started !== undefined) return undefined;
      info.cwd = getText(line["cwd"]);
      info.started = getTime(line["timestamp"], 0);
      info.name = getText(line["title"]) || info.name;
      migrate ??= createMigration(getVersion(line));
      return undefined;
    }
    if (ompStateTypes.has(line.type)) {
      readState(line, findParent(line["parentId"] ?? null));
      return undefined;
    }
    migrate ??= createMigration(typeof line["id"] === "string" ? 2 : 1);
    const entry = withoutChecksum(migrate(line, lineNumber));
    const parentId = findParent(entry.parentId);
    const id = typeof entry.id === "string" && entry.id !== "" ? entry.id : idOfLine(lineNumber);
    if (ids.has(id)) {
      notes.add(noteTexts.unreadable);
      return undefined;
    }
    ids.add(id);
    last = id;
    const timestamp = typeof entry.timestamp === "string" ? entry.timestamp : new Date(info.started ?? 0).toISOString();
    const content = blobsDir === undefined ? entry : await fromOmp(entry, blobsDir, notes);
    return { ...content, id, parentId, timestamp };
  };

  async function* entries(): AsyncGenerator<SessionEntry> {
    for await (const { number, text, isOpen } of readLines(path, options)) {
      if (text?.trim() === "") continue;
      const line = text === undefined ? undefined : parseRecord(number === 1 ? text.replace(/^\uFEFF/, "") : text);
      if (!line || typeof line["type"] !== "string") {
        notes.add(text === undefined ? noteTexts.tooLong : isOpen ? noteTexts.open : noteTexts.unreadable);
        continue;
      }
      const entry = await convert(line as RawEntry, number);
      if (entry) yield entry;
    }
    if (info.name !== undefined && last !== null && !ids.has(nameId)) {
      const timestamp = new Date(info.started ?? 0).toISOString();
      yield { type: "session_info", id: nameId, parentId: last, timestamp, name: info.name };
    }
  }
  return {
    entries: entries(),
    info,
    get notes() {
      return notes.list();
    },
  };
}

/** The id of an entry with the name that oh-my-pi keeps outside of the entries. */
const nameId = "0000name";

/** The entry as our own logs have it: the model by provider and id, and images in the entry. */
async function fromOmp(entry: SessionEntry, blobsDir: string, notes: Notes): Promise<SessionEntry> {
  const fields = entry as unknown as Record<string, unknown>;
  if (entry.type === "model_change" && typeof fields["model"] === "string") {
    const [provider = "", ...modelId] = fields["model"].split("/");
    return { ...entry, provider, modelId: modelId.join("/") };
  }
  const message = fields["message"];
  if (entry.type === "message" && isRecord(message)) {
    const { providerPayload: _, ...others } = message;
    const content = await withImages(message["content"], blobsDir, notes);
    return { ...entry, message: { ...others, content } } as unknown as SessionEntry;
  }
  if (entry.type === "custom_message") {
    return { ...entry, content: await withImages(entry.content, blobsDir, notes) } as SessionEntry;
  }
  return entry;
}

const maxBlobBytes = 32 * 1024 * 1024;

async function withImages(content: unknown, blobsDir: string, notes: Notes): Promise<unknown> {
  if (!Array.isArray(content)) return content;
  return await Promise.all(
    content.map(async (block: unknown) => {
      if (!isRecord(block) || block["type"] !== "image") return block;
      const hash = /^blob:sha256:([0-9a-f]{64})$/.exec(getText(block["data"]))?.[1];
      if (hash === undefined) return block;
      const bytes = await orUndefined(readWhole(nodeFileSystem, join(blobsDir, hash), maxBlobBytes));
      if (bytes) return { ...block, data: bytes.toString("base64") };
      notes.add(noteTexts.lostImage);
      return toTextBlock("[An image was here. It was lost before the session was imported.]");
    }),
  );
}
