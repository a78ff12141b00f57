/** Loads older entries of the shown branch while the user scrolls to the beginning of what is shown. */
import { isDeepStrictEqual } from "node:util";
import type { ScrollView } from "@tau/tui";
import type { SessionClient } from "./session-client.ts";
import type { Missing, Transcript } from "./transcript.ts";

interface OlderEntriesOptions {
  transcript: Transcript;
  /** Undefined if the terminal scrolls: what is printed belongs to it, and nothing can be put before that. */
  scroll: ScrollView | undefined;
  getClient: () => SessionClient;
  /** Runs work whose failure is shown. */
  run: (work: () => Promise<void>) => void;
  requestRender: () => void;
}

const pageSize = 60;

export class OlderEntries {
  readonly #options: OlderEntriesOptions;
  /** The last request, unless it was answered. So what fails is not asked for again with each frame. */
  #asked: { client: SessionClient; missing: Missing } | undefined;

  constructor(options: OlderEntriesOptions) {
    this.#options = options;
  }

  /** Before each frame. */
  update(): void {
    const { missing } = this.#options.transcript;
    const client = this.#options.getClient();
    if (!missing || !this.#isWanted(missing)) return;
    if (this.#asked?.client === client && isDeepStrictEqual(this.#asked.missing, missing)) return;
    const asked = { client, missing };
    this.#asked = asked;
    this.#options.run(async () => {
      if ((await this.#load(asked)) && this.#asked === asked) this.#asked = undefined;
      this.#options.requestRender();
    });
  }

  /** A page ahead, so that the user seldom waits. If nothing of the branch is shown, its end is wanted in any case. */
  #isWanted({ kind }: Missing): boolean {
    const { scroll } = this.#options;
    if (kind === "end") return true;
    return scroll !== undefined && scroll.viewportHeight > 0 && scroll.scrollTop <= scroll.viewportHeight;
  }

  /** Whether it came, or is no longer missing. */
  async #load({ client, missing }: { client: SessionClient; missing: Missing }): Promise<boolean> {
    const { transcript, scroll, getClient } = this.#options;
    const isStale = () => getClient() !== client || !isDeepStrictEqual(transcript.missing, missing);
    const page = { limit: pageSize, ...(missing.kind === "before" && { before: missing.id }) };
    const { entries } = await client.execute({ type: "get_entries", ...page }).catch((error: unknown) => {
      // The entry is not on the branch any more.
      if (isStale()) return { entries: [] };
      throw error;
    });
    if (isStale()) return true;
    const first = transcript.firstShown;
    if (first && scroll) scroll.hold(first);
    const parentId = entries[0]?.parentId ?? null;
    return transcript.addOlder(missing, entries, parentId !== null);
  }
}
