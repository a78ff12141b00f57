/** How much a session does without a question. A person chooses it, and may change it at any time. */

/**
 * From strict to free. `plan`: nothing can be written, on top of one of the others. `ask`: changes of files and commands are
 * asked about too. `edit`: what the policy asks about by itself. `free`: what would be asked is allowed as long as the sandbox
 * holds it; the rest is denied without a question.
 */
export const permissionModes = ["plan", "ask", "edit", "free"] as const;
export type PermissionMode = (typeof permissionModes)[number];

/** A mode that lets something be written. */
export type WritingMode = Exclude<PermissionMode, "plan">;

export const defaultPermissionMode: WritingMode = "edit";

/** Describes each mode in one line, for people who choose one. */
export const permissionModeTexts: Readonly<Record<PermissionMode, string>> = {
  plan: "changes nothing: no file can be written, and commands cannot change anything",
  ask: "asks before every change of a file and every command",
  edit: "changes files in the workspace without a question, and asks about what is risky",
  free: "asks nothing: what stays inside the sandbox is allowed, everything else is denied",
};

export interface PermissionData {
  mode: PermissionMode;
  /** The modes that can be chosen here: a project, or the session that started this one, may allow fewer. */
  choices: PermissionMode[];
  /** In plan mode: the mode that it is on top of, which applies again when plan mode is left. */
  afterPlan?: WritingMode;
  /** A remark about the mode here, such as that there is no sandbox. */
  note?: string;
}

/** Describes what is wrong with a name, in whole sentences; undefined if it is that of a mode. */
export function findPermissionModeProblem(name: string): string | undefined {
  if (isPermissionMode(name)) return undefined;
  const choices = `Choose ${permissionModes.slice(0, -1).join(", ")} or ${permissionModes.at(-1)}.`;
  return `There is no permission mode ${JSON.stringify(name)}. ${choices}`;
}

export const isPermissionMode = (name: unknown): name is PermissionMode =>
  permissionModes.some((mode) => mode === name);

/** The stricter one of several modes. */
export const getStricterMode = <Mode extends PermissionMode>(
  first: Mode,
  ...others: readonly (Mode | undefined)[]
): Mode =>
  others.reduce<Mode>(
    (strictest, mode) =>
      mode !== undefined && permissionModes.indexOf(mode) < permissionModes.indexOf(strictest) ? mode : strictest,
    first,
  );
