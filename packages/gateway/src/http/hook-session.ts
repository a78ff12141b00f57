/** The session that the messages of a webhook go to. */
import { getErrorMessage } from "@tau/ai/internal";
import { customTypes } from "@tau/protocol";
import { GatewayError } from "../errors.ts";
import { getDigest } from "../idempotency/digest.ts";
import type { GatewayParts } from "../parts.ts";
import type { GatewaySettings } from "../settings.ts";

type Hook = GatewaySettings["hooks"][string];

const defaultProfile = "safe";

/** Throws `unavailable`: what is wrong with the settings is not the business of who calls. */
export async function findHookSession(parts: GatewayParts, name: string, hook: Hook): Promise<string> {
  const create = () => createHookSession(parts, name, hook);
  try {
    return hook.session === undefined ? await create() : await parts.sessionKeys.resolve(getKey(hook), create);
  } catch (error) {
    parts.log(`The webhook ${name} has no session: ${getErrorMessage(error)}`);
    throw new GatewayError("unavailable", `The webhook ${name} cannot be used now; the gateway's log says why.`);
  }
}

/** A webhook counts as a device of its own. */
export const getHookDevice = (name: string): string => `hook ${name}`;

/** Webhooks share a session by its name if they agree about what it may do. */
const getKey = ({ session, cwd, agent, policy = defaultProfile }: Hook): string =>
  `hook:${getDigest({ session, cwd, agent, policy })}`;

async function createHookSession(parts: GatewayParts, name: string, hook: Hook): Promise<string> {
  const { cwd = parts.sessions.defaultDirectory, agent, policy = defaultProfile } = hook;
  const open = await parts.sessions.create(cwd, {
    deviceId: getHookDevice(name),
    ...(agent !== undefined && { agentName: agent }),
    policyProfile: policy,
    // From its beginning the session counts as one that has read text of strangers.
    fill: async (log) => {
      await log.appendCustomEntry(customTypes.tainted, { source: "message", detail: `the webhook ${name}` });
    },
  });
  return open.hosted.session.sessionId;
}
