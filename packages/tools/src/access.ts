/** The access that a tool call wants: a capability, and what it is wanted for. */

/** Capabilities: what code can do outside of itself. `exec` and `env` are dangerous. */
export const capabilities = ["read", "write", "http", "events", "session", "ui", "exec", "env", "tool", "log"] as const;
export type Capability = (typeof capabilities)[number];

/** The target that a capability is wanted for. */
export type Target =
  /** Absolute. A tool names it as it was typed; a policy judges the path that it really has. */
  | { kind: "path"; path: string }
  /** `binding` identifies everything that decides what the command does; a policy adds it where an answer is bound to it. */
  | { kind: "command"; command: string; binding?: string }
  /** A host on the network, such as `example.com`, without a port. */
  | { kind: "host"; host: string }
  /** A tool, or anything else that has only a name. */
  | { kind: "name"; name: string };

/** A capability that a call wants. */
export interface AccessRequest {
  capability: Capability;
  target: Target;
  /**
   * Marks calls of tools of others, which may do more than the target says: `unknown` is asked about in the permission mode `ask`,
   * `destructive` in `edit` too, and in `free` it is denied. Default: nothing.
   */
  risk?: "unknown" | "destructive";
  /**
   * Names who wrote the text that the call brings in, such as "the MCP server docs", if that is neither the user nor the project.
   * Once allowed, such a call changes what the policy gives to commands of its session.
   */
  textFrom?: string;
  /**
   * The text that a request to a host sends, such as its whole address. One with a secret in it is denied. Only beside a target that
   * is a host.
   */
  sends?: string;
  /**
   * Says who chose the target: `address` if a person wrote exactly this address, or a search that they allowed returned it, so that
   * nobody is asked until a command of the session was given a secret; `host` if a setting of the user names the host. Only beside a
   * target that is a host.
   */
  chosen?: "address" | "host";
  /**
   * Says what would be done, whole and for a person, who is asked each time: in every permission mode, whatever was allowed before.
   * It is denied where nobody can be asked, and in the mode `free`.
   */
  eachTime?: string;
  /**
   * Marks a call for a program that runs already, with the permissions of when it was started. It is denied in plan mode, which
   * restricts only what is started in it.
   */
  isForRunning?: boolean;
  /** Other absolute paths of which the call opens one if that exists. Only beside a target that is a path. */
  alternatives?: readonly string[];
}
