/** The permission mode of one session: what a person chose, within what the project and the parent session allow. */
import {
  defaultPermissionMode,
  findPermissionModeProblem,
  getStricterMode,
  isPermissionMode,
  type PermissionData,
  type PermissionMode,
  permissionModes,
  HarnessError,
  type WritingMode,
} from "@tau/protocol";

export interface PermissionsParts {
  /** The mode of the user's settings, which applies as long as nobody has chosen another one. */
  getOwn: () => PermissionMode;
  /** The most that a trusted project allows. Undefined: everything. */
  getProjectLimit: () => PermissionMode | undefined;
  /** The permissions of the session that started this one, as long as that is open: a child has at most those. */
  getParent: () => Pick<Permissions, "mode" | "writingMode"> | undefined;
  /** The mode that was chosen for this session before it was opened, by a flag. */
  chosen: PermissionMode | undefined;
  /** Whether it begins in plan mode, on top of that mode. */
  plans: boolean;
  /** The mode in the session's log. A log may come from anybody, so it can make the session stricter and nothing else. */
  logged: PermissionMode | undefined;
  /** The mode under plan mode in the session's log. */
  loggedWriting: WritingMode | undefined;
}

const toWriting = (mode: PermissionMode | undefined): WritingMode | undefined => (mode === "plan" ? undefined : mode);

export class Permissions {
  readonly #parts: PermissionsParts;
  #chosen: WritingMode | undefined;
  /** Whether a person turned plan mode on or off. Undefined: nobody did yet. */
  #plans: boolean | undefined;

  constructor(parts: PermissionsParts) {
    const { chosen, plans } = parts;
    this.#parts = parts;
    this.#chosen = toWriting(chosen);
    this.#plans = plans || chosen === "plan" || (chosen === undefined ? undefined : false);
  }

  get mode(): PermissionMode {
    return this.isPlanning ? "plan" : this.writingMode;
  }

  /** Whether nothing can be written. */
  get isPlanning(): boolean {
    const { getOwn, logged } = this.#parts;
    const isWanted = this.#plans ?? (getOwn() === "plan" || logged === "plan");
    return isWanted || this.#getLimits().includes("plan");
  }

  /** The mode without plan mode, which is on top of it. */
  get writingMode(): WritingMode {
    const { getOwn, loggedWriting, getProjectLimit, getParent } = this.#parts;
    const wanted = this.#chosen ?? getStricterMode(toWriting(getOwn()) ?? defaultPermissionMode, loggedWriting);
    return getStricterMode(wanted, toWriting(getProjectLimit()), getParent()?.writingMode);
  }

  /** The modes that can be chosen, from strict to free. */
  get choices(): PermissionMode[] {
    return permissionModes.filter((mode) => getStricterMode(mode, ...this.#getLimits()) === mode);
  }

  /** Throws for a name that is no mode, and for one that is not allowed here. */
  choose(name: string): PermissionMode {
    const problem = findPermissionModeProblem(name) ?? this.#findLimit(name);
    if (problem !== undefined || !isPermissionMode(name)) throw new HarnessError("invalid_input", problem ?? "");
    this.#plans = name === "plan";
    this.#chosen = toWriting(name) ?? this.#chosen;
    return name;
  }

  /** Says in a whole sentence what of the last process is not continued; undefined if everything is. */
  get notResumed(): string | undefined {
    if (this.#parts.loggedWriting !== "free" || this.writingMode === "free") return undefined;
    return `This session was left in the permission mode free. That is not kept: it continues with ${this.mode} until free is chosen again.`;
  }

  describe(note?: string): PermissionData {
    const { mode, choices, isPlanning, writingMode } = this;
    return { mode, choices, ...(isPlanning && { afterPlan: writingMode }), ...(note !== undefined && { note }) };
  }

  #getLimits() {
    return [this.#parts.getProjectLimit(), this.#parts.getParent()?.mode] as const;
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
