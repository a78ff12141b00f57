import { nonEmptyText } from "@tau/config/fields";
import { atSession, method, type SomeMethods } from "./method.ts";

export const interruptMethods = {
  "agent.interrupt": method(atSession, { sessionId: nonEmptyText }, async ({ parts, client }, { sessionId }) => {
    const { session } = (await parts.sessions.open(sessionId, client.deviceId)).hosted;
    session.interrupt("A client interrupted the run.");
    return null;
  }),
} satisfies SomeMethods;
