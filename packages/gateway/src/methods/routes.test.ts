import { type GatewayMethod, gatewayMethods } from "@tau/protocol/gateway";
import { expect, test } from "vitest";
import { getRoute } from "./index.ts";

const methods = gatewayMethods.filter((method) => method !== "connect");
const listMethods = (kind: string): GatewayMethod[] => methods.filter((method) => getRoute(method).kind === kind);

test("in a cluster, commands run where their session is, or decide by the session that they name", () => {
  const commands = methods.filter((method) => method.startsWith("session."));
  const named = listMethods("named_session");
  expect(named.toSorted()).toEqual([
    "session.delete_session",
    "session.list_sessions",
    "session.rename_session",
    "session.restore_session",
    "session.switch_session",
  ]);
  expect(commands.filter((method) => !named.includes(method))).toEqual(
    listMethods("session").filter((method) => method.startsWith("session.")),
  );
});

test("in a cluster, other methods leave their node only for a session, a message, or to ask every node", () => {
  const own = (kind: string) => listMethods(kind).filter((method) => !method.startsWith("session."));
  expect(own("session").toSorted()).toEqual([
    "agent.interrupt",
    "dialogs.answer",
    "sessions.close",
    "sessions.open",
    "sessions.subscribe",
    "sessions.tree",
    "sessions.unsubscribe",
    "shares.create",
  ]);
  expect(own("message").toSorted()).toEqual(["inbox.cancel", "inbox.replay"]);
  expect(own("all").toSorted()).toEqual(["approvals.list", "shares.list", "shares.revoke"]);
  const follows = methods.flatMap((method) => {
    const route = getRoute(method);
    return route.kind === "session" && route.follow ? [[method, route.follow]] : [];
  });
  expect(follows).toEqual([
    ["sessions.subscribe", "begin"],
    ["sessions.unsubscribe", "end"],
  ]);
});
