/** Whether commands run in the sandbox, for the doctor, the status line and the system prompt. */

export type SandboxState =
  /** Turned off by a setting. */
  | { readonly kind: "off" }
  /**
   * `helper`: one sandbox for the session. `bwrap`: one for each command. `guardsSockets`: connections to sockets outside are
   * refused. Otherwise only sockets that exist when a command starts are hidden. `limitsMemoryFiles`: file systems in memory
   * have a size, which bubblewrap can set since version 0.7.
   */
  | {
      readonly kind: "works";
      readonly with: "helper" | "bwrap";
      readonly guardsSockets: boolean;
      readonly limitsMemoryFiles: boolean;
    }
  /** On macOS: one for each command. There are no file systems in memory. */
  | {
      readonly kind: "works";
      readonly with: "seatbelt";
      readonly guardsSockets: true;
      readonly limitsMemoryFiles: true;
    }
  /** Both are whole sentences for a person. */
  | { readonly kind: "unavailable"; readonly reason: string; readonly fix: string };
