/** Asks for what the view of the session does not have: its state, its tools, and what extensions show of it. */
import type { SlashCommandData } from "@tau/protocol";
import type { LoadedExtensions } from "./extensions/extension-client.ts";
import type { FollowedSession } from "./followed-session.ts";
import type { Look } from "./look.ts";
import type { Remarks } from "./remarks.ts";
import type { SessionClient } from "./session-client.ts";
import type { StatusArea } from "./status-area.ts";

interface SessionFactsOptions {
  session: FollowedSession;
  status: StatusArea;
  look: Look;
  remarks: Remarks;
  requestRender: () => void;
}

/** The names of what was loaded for a session. */
export interface LoadedNames {
  skills: readonly string[];
  prompts: readonly string[];
  extensions: readonly string[];
}

export class SessionFacts {
  readonly #options: SessionFactsOptions;
  #loaded: LoadedNames | undefined;
  #listener: ((client: SessionClient) => Promise<void>) | undefined;

  constructor(options: SessionFactsOptions) {
    this.#options = options;
  }

  /** Undefined until it is known. */
  get loaded(): LoadedNames | undefined {
    return this.#loaded;
  }

  /** Calls `listener` after each refresh. Nothing waits for it. */
  onRefresh(listener: (client: SessionClient) => Promise<void>): void {
    this.#listener = listener;
  }

  async refresh(): Promise<void> {
    const { session, status, look, remarks, requestRender } = this.#options;
    const { client } = session;
    const [{ tools }, { commands }] = await Promise.all([
      client.execute({ type: "get_tools" }),
      client.execute({ type: "get_commands" }),
      status.refresh(client),
    ]);
    // Another session may be shown by now.
    if (session.client !== client) return;
    look.shows = new Map(tools.map(({ name, shows }) => [name, shows]));
    this.#loaded = listLoaded(commands, client.extensions?.loaded?.list ?? []);
    look.cwd = status.state?.cwd ?? "";
    requestRender();
    void remarks.report(async () => await this.#listener?.(client));
  }

  /** Asks only for what the session has used. */
  refreshUse(): void {
    const { session, status, remarks } = this.#options;
    void remarks.report(() => status.refreshUse(session.client));
  }
}

const listLoaded = (commands: readonly SlashCommandData[], extensions: LoadedExtensions["list"]): LoadedNames => ({
  skills: commands.filter(({ source }) => source === "skill").map(({ name }) => name.replace(/^skill:/, "")),
  prompts: commands.filter(({ source }) => source === "prompt").map(({ name }) => `/${name}`),
  // A feature is part of tau, and its code is loaded when it is used.
  extensions: extensions
    .filter(({ state, source }) => state !== "killed" && source.origin !== "feature")
    .map(({ source }) => source.name),
});
