/** Leaving a session for another one, as a command of an extension asks for it. */
import { ExtensionError } from "../errors.ts";
import type { ReplacedSessionContext } from "../api/context.ts";
import type { SessionExtensions } from "./session-extensions.ts";
import type { ExtensionHost, Replacement } from "./surface.ts";

/** The surface shows the new session before `withSession` is called. */
export async function replaceSession(
  { host, surface }: SessionExtensions,
  open: (host: ExtensionHost) => Promise<Replacement>,
  withSession: ((context: ReplacedSessionContext) => Promise<void>) | undefined,
): Promise<{ cancelled: boolean }> {
  if (!host || !surface?.show) {
    throw new ExtensionError("invalid_input", "This program shows one session only, so it cannot change to another.");
  }
  const replacement = await open(host);
  if (replacement.cancelled) return { cancelled: true };
  const { sessionId } = replacement;
  await surface.show(sessionId);
  const context = host.createContext(sessionId);
  if (withSession && context) await withSession(context);
  return { cancelled: false };
}
