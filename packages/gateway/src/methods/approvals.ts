import { method, type SomeMethods } from "./method.ts";

export const approvalMethods = {
  "approvals.list": method({}, ({ parts }) => ({
    approvals: [...parts.sessions.all].flatMap((open) => {
      const { session, view } = open.hosted;
      return view.live.approvals.map((approval) => ({
        sessionId: session.sessionId,
        approval: open.redact(approval),
      }));
    }),
  })),
} satisfies SomeMethods;
