/** Lets the extensions of a session use it. */
import type { StreamFn } from "@tau/agent";
import { HarnessError } from "@tau/protocol";
import type { ExtensionSessionPort, SessionExtensions } from "@tau/extensions";
import type { Spending } from "../agent-session/live-sessions.ts";
import type { Budget } from "../budget/budget.ts";
import { parseUsage } from "../budget/usage.ts";
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
  /** Records what a request cost in the session. Never rejects. */
  noteSpent(spent: Spending): Promise<void>;
}

/** The code of the port is loaded here, because most sessions have no extensions. */
export async function bindExtensions(extensions: SessionExtensions, parts: BindParts): Promise<void> {
  const { session, tools, activity, host, spawn, getSignal, noteSpent } = parts;
  const { sessionManager, modelRegistry: registry, authStorage: auth } = session;
  const { createSessionMirror } = await import("../session/session-mirror.ts");
  const { createExtensionPort } = await import("./extension-port.ts");
  const reader = await createSessionMirror(sessionManager);
  const { createModelAccess } = await import("@tau/extensions/open");
  const models = await createModelAccess({
    registry,
    auth,
    request: payFor(host.ask, { getBudget: () => session.budget, noteSpent }),
    providers: extensions.providers,
  });
  const port = createExtensionPort({ session, tools, activity, host, spawn, getSignal, extensions, reader, models });
  extensions.bind(port, () => reader.close());
  // Their tools can be called from now on.
  tools.rebuild();
}

interface Payer extends Pick<BindParts, "noteSpent"> {
  getBudget: () => Budget;
}

/** Requests of extensions are paid from the budget of the run, refused once it is spent, and part of the session's costs. */
const payFor =
  (request: StreamFn, { getBudget, noteSpent }: Payer): StreamFn =>
  async (...question) => {
    const budget = getBudget();
    const limit = budget.exceeded();
    if (limit !== undefined) throw new HarnessError("denied", `The budget is spent: the limit of ${limit} is reached.`);
    const stream = await request(...question);
    // A failure is reported by the stream itself, and has no usage.
    void stream.result().then(
      ({ provider, model, usage }) => {
        budget.charge(usage);
        const { total, cost } = parseUsage(usage);
        return total > 0 || cost > 0 ? noteSpent({ provider, model, usage }) : undefined;
      },
      () => undefined,
    );
    return stream;
  };
