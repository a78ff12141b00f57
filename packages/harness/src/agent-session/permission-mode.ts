/** Changes the permission mode of a session, and publishes changes of it. */
import type { PermissionData, PermissionMode } from "@tau/protocol";
import type { Permissions, PolicyReport } from "@tau/policy/internal";
import type { Publisher } from "../run/publisher.ts";
import type { SessionManager } from "../session/session-manager.ts";

interface PermissionModesParts {
  permissions: Permissions;
  report: PolicyReport;
  session: SessionManager;
  publisher: Publisher;
}

export class PermissionModes {
  readonly #parts: PermissionModesParts;
  #published: PermissionMode;

  constructor(parts: PermissionModesParts) {
    this.#parts = parts;
    this.#published = parts.permissions.mode;
  }

  /** See `AgentSession.setPermissionMode`. */
  async choose(mode: string): Promise<PermissionData> {
    const { permissions, report, session } = this.#parts;
    const chosen = permissions.choose(mode);
    this.publishChange();
    if (chosen === "free") await report.trySandbox();
    if (!session.readOnly && chosen !== (await session.getPermissionMode()))
      await session.append({ type: "permission_mode", mode: chosen });
    return report.permissions;
  }

  /** Publishes the mode unless surfaces know it: the settings and the parent session change it too. */
  publishChange(): void {
    const { permissions, publisher } = this.#parts;
    const { mode } = permissions;
    if (mode === this.#published) return;
    this.#published = mode;
    publisher.fact({ type: "permission_mode_changed", mode });
  }
}
