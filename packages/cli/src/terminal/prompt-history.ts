/**
 * Keeps the prompts of all sessions in one file of tau's directory, a line of JSON each, so that they can be sent again.
 * All processes append to it.
 */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { systemClock, systemIds } from "@tau/ai";
import { isRecord } from "@tau/ai/internal";
import { orUndefined, readWhole, withFileLease, writeWhole } from "@tau/tools/durable";
import { nodeFileSystem } from "@tau/tools/platform";

export interface PastPrompt {
  text: string;
  /** The directory of the session that it was sent to. */
  cwd: string;
  /** When, as an ISO date. */
  at: string;
}

/** Where prompts are kept. */
export interface PromptHistory {
  /** Oldest first. */
  list(): Promise<readonly PastPrompt[]>;
  /** Keeps a prompt, without secrets. */
  append(text: string, cwd: string): Promise<void>;
  /** Resolves once all prompts are kept, or could not be. */
  settle(): Promise<void>;
}

const maxPrompts = 10_000;
/** Longer prompts, such as pasted logs, are not kept. */
const maxPromptCharacters = 50_000;
const maxFileBytes = 32 * 1024 * 1024;
/** The file may grow by this much before the oldest prompts are removed, so that most starts only read it. */
const spareParts = 1.1;

interface PromptHistoryOptions {
  agentDir: string;
  /** Removes secrets from a prompt. */
  redact: (text: string) => Promise<string>;
  /** Milliseconds since 1970. */
  now: () => number;
}

export function createPromptHistory({ agentDir, redact, now }: PromptHistoryOptions): PromptHistory {
  const file = join(agentDir, "history.jsonl");
  const ports = { fileSystem: nodeFileSystem, clock: systemClock, ids: systemIds };
  let last: Promise<void> = Promise.resolve();
  const append = async (text: string, cwd: string) => {
    if (text.length > maxPromptCharacters) return;
    const line = formatLine({ text: await redact(text), cwd, at: new Date(now()).toISOString() });
    await withFileLease(file, ports, (path) => appendLine(path, line));
  };
  return {
    async list() {
      const bytes = await readWhole(nodeFileSystem, file);
      if (!bytes) return [];
      const prompts = parsePrompts(bytes.toString("utf8"));
      if (prompts.length > maxPrompts * spareParts || bytes.length > maxFileBytes) {
        await withFileLease(file, ports, async (path) => {
          const current = (await readWhole(nodeFileSystem, path))?.toString("utf8") ?? "";
          const kept = keepLatest(parsePrompts(current)).map(formatLine).join("");
          await writeWhole(nodeFileSystem, { path, bytes: Buffer.from(kept), ids: systemIds });
        });
      }
      return prompts.slice(-maxPrompts);
    },
    // In their order.
    append(text, cwd) {
      const appended = last.then(() => append(text, cwd));
      last = appended.catch(() => undefined);
      return appended;
    },
    settle: () => last,
  };
}

/** Lines that are no prompts are left out: the file may be one of another version, or damaged. Pure. */
export function parsePrompts(content: string): PastPrompt[] {
  return content.split("\n").flatMap((line) => {
    const value = parseLine(line);
    if (!isRecord(value) || typeof value["text"] !== "string" || value["text"].trim() === "") return [];
    const { text, cwd, at } = value;
    return [{ text, cwd: typeof cwd === "string" ? cwd : "", at: typeof at === "string" ? at : "" }];
  });
}

function parseLine(line: string): unknown {
  if (line.trim() === "") return undefined;
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}

const formatLine = (prompt: PastPrompt): string => `${JSON.stringify(prompt)}\n`;

/** The latest prompts that fit the limits. Pure. */
function keepLatest(prompts: readonly PastPrompt[]): readonly PastPrompt[] {
  let bytes = 0;
  const latest = prompts.slice(-maxPrompts);
  const oversized = latest.findLastIndex((prompt) => {
    bytes += Buffer.byteLength(formatLine(prompt));
    return bytes > maxFileBytes / spareParts;
  });
  return latest.slice(oversized + 1);
}

/** A line that another process did not finish, since it was killed, does not take ours with it. */
async function appendLine(path: string, line: string): Promise<void> {
  const handle = await open(
    path,
    constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW,
    0o600,
  );
  try {
    // The file may have been made by hand, or copied.
    await orUndefined(handle.chmod(0o600));
    const { size } = await handle.stat();
    const last = Buffer.alloc(1);
    if (size > 0) await handle.read(last, 0, 1, size - 1);
    await handle.write(size > 0 && last.toString() !== "\n" ? `\n${line}` : line);
  } finally {
    await handle.close();
  }
}
