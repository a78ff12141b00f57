/** Lets the extensions of a session use it. */
import type { ExtensionSessionPort, SessionExtensions } from "@tau/extensions";
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
  const models = await createModelAccess({ registry, auth, request: host.ask, providers: extensions.providers });
  const port = createExtensionPort({ session, tools, activity, host, spawn, getSignal, extensions, reader, models });
  extensions.bind(port, () => reader.close());
  // Their tools can be called from now on.
  tools.rebuild();
}
