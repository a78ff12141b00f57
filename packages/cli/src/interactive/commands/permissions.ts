/** `/permissions`: how much the session does without a question. */
import { type PermissionMode, permissionModeTexts } from "@tau/protocol";
import type { SelectItem } from "@tau/tui";
import type { Interface } from "../interface.ts";
import type { SessionClient } from "../session-client.ts";

interface ModeOptions {
  getClient: () => SessionClient;
  say: Interface["say"];
}

export async function choosePermissions(ui: Interface, argument: string): Promise<void> {
  const { permissions } = await ui.client.execute({ type: "get_state" });
  const chosen =
    argument === ""
      ? await ui.choose("Permission mode", await listPermissionModes(ui), { selected: permissions.mode })
      : argument.trim();
  if (chosen !== undefined) await setMode(ui.client, ui.say, chosen);
}

/** Modes that can be chosen here. */
export async function listPermissionModes({ client }: Pick<Interface, "client">): Promise<SelectItem[]> {
  const { permissions } = await client.execute({ type: "get_state" });
  return permissions.choices.map((mode) => ({ value: mode, label: mode, description: permissionModeTexts[mode] }));
}

/** Takes the next mode besides plan mode that can be chosen, and after the last the first again. */
export async function cyclePermissions(options: ModeOptions): Promise<void> {
  const client = options.getClient();
  const { permissions } = await client.execute({ type: "get_state" });
  const { mode } = permissions;
  const choices: PermissionMode[] = permissions.choices.filter((each) => each !== "plan");
  const next = choices[(choices.indexOf(mode) + 1) % choices.length] ?? mode;
  if (next === mode)
    return options.say(`The permission mode ${mode} is the only one that can be chosen here.`, "warning");
  await setMode(client, options.say, next);
}

/** Turns plan mode on, or off again: then the mode before it applies. */
export async function togglePlanMode({ getClient, say }: ModeOptions): Promise<void> {
  const client = getClient();
  const { permissions } = await client.execute({ type: "get_state" });
  await setMode(client, say, permissions.afterPlan ?? "plan");
}

async function setMode(client: SessionClient, say: Interface["say"], name: string): Promise<void> {
  const { mode, note } = await client.execute({ type: "set_permission_mode", mode: name });
  say(`Permission mode ${mode}: ${permissionModeTexts[mode]}.`);
  if (note !== undefined) say(note, "warning");
}
