import { nonEmptyText } from "@tau/harness/fields";
import { method, type SomeMethods } from "./method.ts";

export const interruptMethods = {
  "agent.interrupt": method({ sessionId: nonEmptyText }, async ({ parts }, { sessionId }) => {
    const { session } = (await parts.sessions.open(sessionId)).hosted;
    session.interrupt("A client interrupted the run.");
    return null;
  }),
} satisfies SomeMethods;
