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

/** Must not reject. */
type ModeListener = (mode: PermissionMode, previousMode: PermissionMode) => void | Promise<void>;

export class PermissionModes {
  readonly #parts: PermissionModesParts;
  readonly #listeners = new Set<ModeListener>();
  #published: PermissionMode;

  constructor(parts: PermissionModesParts) {
    this.#parts = parts;
    this.#published = parts.permissions.mode;
  }

  /** Calls `listener` after each change that is reported to surfaces. */
  onChange(listener: ModeListener): void {
    this.#listeners.add(listener);
  }

  /** See `AgentSession.setPermissionMode`. */
  async choose(mode: string): Promise<PermissionData> {
    const { permissions, report, session } = this.#parts;
    const chosen = permissions.choose(mode);
    const published = this.publishChange();
    if (chosen === "free") await report.trySandbox();
    if (!session.readOnly && chosen !== (await session.getPermissionMode()))
      await session.append({ type: "permission_mode", mode: chosen });
    await published;
    return report.permissions;
  }

  /** Publishes the mode unless surfaces know it: the settings and the parent session change it too. Never rejects. */
  async publishChange(): Promise<void> {
    const { permissions, publisher } = this.#parts;
    const { mode } = permissions;
    if (mode === this.#published) return;
    const previousMode = this.#published;
    this.#published = mode;
    publisher.fact({ type: "permission_mode_changed", mode });
    for (const listener of this.#listeners) await listener(mode, previousMode);
  }
}
