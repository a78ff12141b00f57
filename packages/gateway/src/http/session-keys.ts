/** Names for sessions that messages from outside go to, kept over restarts. */
import { isRecord, SerialQueue, tryParseJson } from "@tau/ai/internal";
import type { KeptText } from "../kept-text.ts";

export interface SessionKeys {
  /** The session of a key; a new one where there is none, or where it was deleted. One call at a time. */
  resolve(key: string, create: () => Promise<string>): Promise<string>;
}

interface KeptSessionKeysOptions {
  text: KeptText;
  /** Whether a session is still there. */
  hasSession: (sessionId: string) => Promise<boolean>;
}

/** Above this, the oldest are forgotten. */
const maxKeys = 1_000;

export class KeptSessionKeys implements SessionKeys {
  readonly #options: KeptSessionKeysOptions;
  readonly #queue = new SerialQueue();
  #known: Map<string, string> | undefined;

  constructor(options: KeptSessionKeysOptions) {
    this.#options = options;
  }

  resolve(key: string, create: () => Promise<string>): Promise<string> {
    const { text, hasSession } = this.#options;
    return this.#queue.add(async () => {
      this.#known ??= parseKeys(await text.read());
      const known = this.#known.get(key);
      if (known !== undefined && (await hasSession(known))) return known;
      const sessionId = await create();
      const entries = [...this.#known].filter(([each]) => each !== key).slice(1 - maxKeys);
      const next = new Map([...entries, [key, sessionId]]);
      await text.write(`${JSON.stringify(Object.fromEntries(next), null, 2)}\n`);
      this.#known = next;
      return sessionId;
    });
  }
}

/** A text that is damaged costs no more than that sessions begin anew. */
function parseKeys(text: string | undefined): Map<string, string> {
  const parsed = tryParseJson(text ?? "");
  const entries = Object.entries(isRecord(parsed) ? parsed : {});
  return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}
