import type { MethodData } from "@tau/protocol/gateway";
import { method, type SomeMethods } from "./method.ts";

export const approvalMethods = {
  "approvals.list": method({ kind: "all", join: joinLists }, {}, ({ parts }) => ({
    approvals: [...parts.sessions.all].flatMap((open) => {
      const { session, view } = open.hosted;
      return view.live.approvals.map((approval) => ({
        sessionId: session.sessionId,
        approval: open.redact(approval),
      }));
    }),
  })),
} satisfies SomeMethods;

function joinLists(answers: readonly unknown[]): MethodData<"approvals.list"> {
  return { approvals: (answers as MethodData<"approvals.list">[]).flatMap(({ approvals }) => approvals) };
}
