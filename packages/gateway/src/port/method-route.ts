import type { GatewayMethod } from "@tau/protocol/gateway";

/** Commands of a session that name another one. Sessions of a cluster are no files, so the cluster finds that session. */
export const namingCommands = [
  "list_sessions",
  "rename_session",
  "switch_session",
  "delete_session",
  "restore_session",
] as const;

export type NamingMethod = `session.${(typeof namingCommands)[number]}` & GatewayMethod;

/** Which nodes of a cluster run a method. A gateway that is alone runs every method itself. */
export type MethodRoute =
  /** The node that the client is connected to. */
  | { kind: "here" }
  /** The node that runs the session `sessionId`. `follow`: the method begins or ends that its frames go to the client. */
  | { kind: "session"; follow?: "begin" | "end" }
  /** The node that runs the session of the message `id`. */
  | { kind: "message" }
  /** A session that the parameters name decides. */
  | { kind: "named_session"; method: NamingMethod }
  /** All nodes. `join` makes one answer of theirs; that of this node is the first. */
  | { kind: "all"; join: (answers: readonly unknown[]) => unknown };
