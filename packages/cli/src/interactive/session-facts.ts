/** Asks for what the view of the session does not have: its state, its tools, and what extensions show of it. */
import type { LazyExtensions } from "./extensions/lazy-extensions.ts";
import type { FollowedSession } from "./followed-session.ts";
import type { Look } from "./look.ts";
import type { Remarks } from "./remarks.ts";
import type { StatusArea } from "./status-area.ts";

interface SessionFactsOptions {
  session: FollowedSession;
  status: StatusArea;
  look: Look;
  extensions: LazyExtensions;
  remarks: Remarks;
  requestRender: () => void;
}

export class SessionFacts {
  readonly #options: SessionFactsOptions;

  constructor(options: SessionFactsOptions) {
    this.#options = options;
  }

  async refresh(): Promise<void> {
    const { session, status, look, extensions, remarks, requestRender } = this.#options;
    const { client } = session;
    const [{ tools }] = await Promise.all([client.execute({ type: "get_tools" }), status.refresh(client)]);
    // Another session may be shown by now.
    if (session.client !== client) return;
    look.shows = new Map(tools.map(({ name, shows }) => [name, shows]));
    look.cwd = status.state?.cwd ?? "";
    requestRender();
    // Reads a file, and only footers of extensions show it: nothing waits for it.
    void remarks.report(async () => await extensions.current?.countProviders(client));
  }

  /** Asks only for what the session has used. */
  refreshUse(): void {
    const { session, status, remarks } = this.#options;
    void remarks.report(() => status.refreshUse(session.client));
  }
}
