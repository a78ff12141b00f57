/** The permission mode of one session: what a person chose, within what the project and the parent session allow. */
import {
  findPermissionModeProblem,
  getStricterMode,
  isPermissionMode,
  type PermissionData,
  type PermissionMode,
  permissionModes,
  HarnessError,
} from "@tau/protocol";

export interface PermissionsParts {
  /** The mode of the user's settings, which applies as long as nobody has chosen another one. */
  getOwn: () => PermissionMode;
  /** The most that a trusted project allows. Undefined: everything. */
  getProjectLimit: () => PermissionMode | undefined;
  /** The mode of the session that started this one, as long as that is open: a child has at most that. */
  getParentMode: () => PermissionMode | undefined;
  /** The mode that was chosen for this session before it was opened, by a flag. */
  chosen: PermissionMode | undefined;
  /** The mode in the session's log. A log may come from anybody, so it can make the session stricter and nothing else. */
  logged: PermissionMode | undefined;
}

export class Permissions {
  readonly #parts: PermissionsParts;
  #chosen: PermissionMode | undefined;
  #logged: PermissionMode | undefined;

  constructor(parts: PermissionsParts) {
    this.#parts = parts;
    this.#chosen = parts.chosen;
    this.#logged = parts.logged;
  }

  get mode(): PermissionMode {
    const wanted = this.#chosen ?? getStricterMode(this.#parts.getOwn(), this.#logged);
    return getStricterMode(wanted, ...this.#getLimits());
  }

  /** The modes that can be chosen, from strict to free. */
  get choices(): PermissionMode[] {
    return permissionModes.filter((mode) => getStricterMode(mode, ...this.#getLimits()) === mode);
  }

  /** Throws for a name that is no mode, and for one that is not allowed here. */
  choose(name: string): PermissionMode {
    const problem = findPermissionModeProblem(name) ?? this.#findLimit(name);
    if (problem !== undefined || !isPermissionMode(name)) throw new HarnessError("invalid_input", problem ?? "");
    this.#chosen = name;
    return name;
  }

  /** Says in a whole sentence what of the last process is not continued; undefined if everything is. */
  get notResumed(): string | undefined {
    if (this.#logged !== "free" || this.mode === "free") return undefined;
    return `This session was left in the permission mode free. That is not kept: it continues with ${this.mode}. /permissions free chooses it again.`;
  }

  describe(note?: string): PermissionData {
    return { mode: this.mode, choices: this.choices, ...(note !== undefined && { note }) };
  }

  #getLimits() {
    return [this.#parts.getProjectLimit(), this.#parts.getParentMode()] as const;
  }

  #findLimit(name: string): string | undefined {
    if (this.choices.some((mode) => mode === name)) return undefined;
    const limit = this.choices.at(-1);
    const why =
      this.#parts.getProjectLimit() === limit
        ? "the project's setting policy.permissionMode"
        : "the session that started this one";
    return `The permission mode ${name} cannot be chosen here: ${why} allows ${limit} at most.`;
  }
}
