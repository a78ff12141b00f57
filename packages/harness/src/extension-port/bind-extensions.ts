/** Lets the extensions of a session use it. */
import type { StreamFn } from "@tau/agent";
import type { ExtensionSessionPort, SessionExtensions } from "@tau/extensions";
import type { Budget } from "../budget/budget.ts";
import type { RunHost } from "../run/run-host.ts";
import type { PortActivity, PortSession, PortTools } from "./port-session.ts";

interface BindParts {
  session: PortSession;
  tools: PortTools;
  activity: PortActivity;
  host: RunHost;
  spawn: ExtensionSessionPort["spawn"];
  /** The signal of the run in progress. */
  getSignal: () => AbortSignal | undefined;
}

/** The code of the port is loaded here, because most sessions have no extensions. */
export async function bindExtensions(extensions: SessionExtensions, parts: BindParts): Promise<void> {
  const { session, tools, activity, host, spawn, getSignal } = parts;
  const { sessionManager, modelRegistry: registry, authStorage: auth } = session;
  const { createSessionMirror } = await import("../session/session-mirror.ts");
  const { createExtensionPort } = await import("./extension-port.ts");
  const reader = await createSessionMirror(sessionManager);
  const { createModelAccess } = await import("@tau/extensions/open");
  const models = await createModelAccess({
    registry,
    auth,
    request: payFor(host.ask, () => session.budget),
    providers: extensions.providers,
  });
  const port = createExtensionPort({ session, tools, activity, host, spawn, getSignal, extensions, reader, models });
  extensions.bind(port, () => reader.close());
  // Their tools can be called from now on.
  tools.rebuild();
}

/** Requests of extensions are paid from the budget of the run, and refused once it is spent. */
const payFor =
  (request: StreamFn, getBudget: () => Budget): StreamFn =>
  async (...question) => {
    const budget = getBudget();
    const limit = budget.exceeded();
    if (limit !== undefined) throw new Error(`The budget is spent: the limit of ${limit} is reached.`);
    const stream = await request(...question);
    // A failure is reported by the stream itself, and has no usage.
    void stream.result().then(
      ({ usage }) => budget.charge(usage),
      () => undefined,
    );
    return stream;
  };
