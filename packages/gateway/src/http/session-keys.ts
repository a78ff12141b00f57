/** Names for sessions that messages from outside go to, kept over restarts in a file. */
import { join } from "node:path";
import { type Ids } from "@tau/ai";
import { isRecord, SerialQueue, tryParseJson } from "@tau/ai/internal";
import { writeWhole } from "@tau/tools/durable";
import { readOwnFile } from "@tau/protocol/node";
import { nodeFileSystem } from "@tau/tools/platform";

export interface SessionKeys {
  /** The session of a key; a new one where there is none, or where it was deleted. One call at a time. */
  resolve(key: string, create: () => Promise<string>): Promise<string>;
}

interface SessionKeyFileOptions {
  /** That of the gateway. */
  directory: string;
  ids: Ids;
  /** Whether a session is still there. */
  hasSession: (sessionId: string) => Promise<boolean>;
}

/** Above this, the oldest are forgotten. */
const maxKeys = 1_000;

export class SessionKeyFile implements SessionKeys {
  readonly #options: SessionKeyFileOptions;
  readonly #path: string;
  readonly #queue = new SerialQueue();
  #known: Map<string, string> | undefined;

  constructor(options: SessionKeyFileOptions) {
    this.#options = options;
    this.#path = join(options.directory, "session-keys.json");
  }

  resolve(key: string, create: () => Promise<string>): Promise<string> {
    return this.#queue.add(async () => {
      this.#known ??= parseKeys(readOwnFile(this.#path));
      const known = this.#known.get(key);
      if (known !== undefined && (await this.#options.hasSession(known))) return known;
      const sessionId = await create();
      const entries = [...this.#known].filter(([each]) => each !== key).slice(1 - maxKeys);
      const next = new Map([...entries, [key, sessionId]]);
      const bytes = Buffer.from(`${JSON.stringify(Object.fromEntries(next), null, 2)}\n`);
      await writeWhole(nodeFileSystem, { path: this.#path, bytes, ids: this.#options.ids });
      this.#known = next;
      return sessionId;
    });
  }
}

/** A file that is damaged costs no more than that sessions begin anew. */
function parseKeys(text: string | undefined): Map<string, string> {
  const parsed = tryParseJson(text ?? "");
  const entries = Object.entries(isRecord(parsed) ? parsed : {});
  return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}
