/** Whether commands run in the sandbox, for the doctor, the status line and the system prompt. */

export type SandboxState =
  /** Turned off by a setting. */
  | { readonly kind: "off" }
  /** `helper`: one sandbox for the session. `bwrap`: one for each command. */
  | { readonly kind: "works"; readonly with: "helper" | "bwrap" }
  /** Both are whole sentences for a person. */
  | { readonly kind: "unavailable"; readonly reason: string; readonly fix: string };
