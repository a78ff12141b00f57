/**
 * Messages from other programs for sessions that this computer's programs have open: one file each, in the directory `spool` of the
 * agent directory. The program that has the session renames `SESSION~TIME-ID.json` to `.taken` before it uses it, and removes it
 * once the session's log has the message under that id. A message that a killed program has left is found by the next one, and the
 * log says whether it was used.
 */
import { join } from "node:path";
import { type Clock, type Ids, systemClock, systemIds } from "@tau/ai";
import { isRecord, tryParseJson } from "@tau/ai/internal";
import { HarnessError } from "@tau/protocol";
import { makeDirectory, namingFile, readWhole, writeWhole } from "@tau/tools/durable";
import { lookAt, nodeFileSystem as fs, tolerate, unlessMissing } from "@tau/tools/platform";

export interface SpooledMessage {
  sender: string;
  text: string;
}

interface SpoolName {
  /** The file without its ending. Names of one session are in the order in which the messages came. */
  name: string;
  /** When it came, in milliseconds. */
  time: number;
  /** Names the message in the session's log. */
  id: string;
  /** `taken`: by a program that had the session open. */
  state: "waiting" | "taken";
}

interface SpoolOptions {
  agentDir: string;
  clock?: Clock;
  ids?: Ids;
}

const maxTextBytes = 64 * 1024;
/** Messages of one session, and of all, that may wait. */
const maxMessages = 32;
const maxAllMessages = 500;
/** A killed sender leaves the draft of a message that it did not finish. */
const maxDraftAgeMs = 60 * 60_000;

const endings = { waiting: ".json", taken: ".taken" } as const;

export class Spool {
  readonly directory: string;
  readonly #clock: Clock;
  readonly #ids: Ids;

  constructor({ agentDir, clock = systemClock, ids = systemIds }: SpoolOptions) {
    this.directory = join(agentDir, "spool");
    this.#clock = clock;
    this.#ids = ids;
  }

  /** Resolves with its name when the message is on the disk. Throws `invalid_input` for one that is too long or too many. */
  async add(sessionId: string, message: SpooledMessage): Promise<string> {
    if (Buffer.byteLength(message.text) > maxTextBytes) {
      const advice = "Write it into a file, and send its path.";
      throw new HarnessError("invalid_input", `The message has more than ${maxTextBytes / 1024} KB. ${advice}`);
    }
    const last = (await this.#mustHaveSpace(sessionId)).at(-1);
    // Later than the last one also within a millisecond, and after the clock was set back.
    const time = Math.max(this.#clock.now(), (last?.time ?? 0) + 1);
    const name = `${sessionId}~${String(time).padStart(15, "0")}-${this.#ids()}`;
    const path = this.#getPath(name, "waiting");
    await namingFile(path, () => writeWhole(fs, { path, bytes: Buffer.from(JSON.stringify(message)), ids: this.#ids }));
    return name;
  }

  /** The messages of a session, oldest first. */
  async list(sessionId: string): Promise<SpoolName[]> {
    const prefix = `${sessionId}~`;
    const names = await this.#listFiles();
    return names
      .filter((file) => file.startsWith(prefix))
      .flatMap((file) => parseName(file) ?? [])
      .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** `gone`: it is in the session's log. */
  async getState(name: string): Promise<SpoolName["state"] | "gone"> {
    // Twice: it may be given back between two looks.
    for (let look = 0; look < 2; look++) {
      if (await lookAt(fs, this.#getPath(name, "waiting"))) return "waiting";
      if (await lookAt(fs, this.#getPath(name, "taken"))) return "taken";
    }
    return "gone";
  }

  /** Takes back a message that nobody has taken. False if it is too late. */
  async cancel(name: string): Promise<boolean> {
    return await isDone(fs.unlink(this.#getPath(name, "waiting")));
  }

  /** Takes a message, for the program that has the session. False if it was taken back meanwhile. */
  async take(name: string): Promise<boolean> {
    return await isDone(fs.rename(this.#getPath(name, "waiting"), this.#getPath(name, "taken")));
  }

  /** Reads a message that was taken; undefined if its file cannot be used. */
  async read(name: string): Promise<SpooledMessage | undefined> {
    const bytes = await readWhole(fs, this.#getPath(name, "taken"), 2 * maxTextBytes + 10_000);
    const message = tryParseJson(bytes?.toString("utf8") ?? "");
    if (!isRecord(message)) return undefined;
    const { sender, text } = message;
    return typeof sender === "string" && typeof text === "string" ? { sender, text } : undefined;
  }

  /** Leaves a message that could not be used to its sender, and to the next program that opens the session. */
  async giveBack(name: string): Promise<void> {
    await isDone(fs.rename(this.#getPath(name, "taken"), this.#getPath(name, "waiting")));
  }

  /** The session's log has the message. */
  async finish(name: string): Promise<void> {
    await isDone(fs.unlink(this.#getPath(name, "taken")));
  }

  /** Returns the messages of the session that wait. */
  async #mustHaveSpace(sessionId: string): Promise<SpoolName[]> {
    await makeDirectory(fs, this.directory);
    const names = await this.#listFiles();
    await Promise.all(names.filter((file) => !parseName(file)).map((file) => this.#removeOldDraft(file)));
    const waiting = await this.list(sessionId);
    if (waiting.length < maxMessages && names.length < maxAllMessages) return waiting;
    const which = waiting.length < maxMessages ? "in all" : "for this session";
    const count = waiting.length < maxMessages ? names.length : waiting.length;
    const advice = `They are sent when their sessions are opened; ${this.directory} has them.`;
    throw new HarnessError("invalid_input", `${count} messages wait ${which} already. ${advice}`);
  }

  async #removeOldDraft(file: string): Promise<void> {
    const path = join(this.directory, file);
    const stats = await lookAt(fs, path);
    if (stats && this.#clock.now() - stats.mtimeMs > maxDraftAgeMs) await isDone(fs.unlink(path));
  }

  async #listFiles(): Promise<string[]> {
    return ((await tolerate(fs.readdir(this.directory), "ENOENT")) ?? []).map(({ name }) => name);
  }

  #getPath(name: string, state: SpoolName["state"]): string {
    return join(this.directory, `${name}${endings[state]}`);
  }
}

/** Undefined for other files, such as a message that is being written. Pure. */
function parseName(file: string): SpoolName | undefined {
  const [, name, time, id, ending] = /^([^~]+~(\d{15})-([\w-]+))(\.json|\.taken)$/.exec(file) ?? [];
  if (name === undefined || id === undefined) return undefined;
  return { name, time: Number(time), id, state: ending === endings.taken ? "taken" : "waiting" };
}

/** False where there is no such file. */
const isDone = async (work: Promise<void>): Promise<boolean> => (await unlessMissing(work.then(() => true))) ?? false;
