/** `/role`: chooses a model by what it is for. */
import type { RoleData } from "@tau/protocol";
import type { SelectItem } from "@tau/tui";
import type { Interface } from "../interface.ts";
import type { SessionClient } from "../session-client.ts";

/** Sets the role that `argument` names; else the user chooses. */
export async function chooseRole(ui: Interface, argument: string): Promise<void> {
  const { role = "default" } = await ui.client.execute({ type: "get_state" });
  const name = argument === "" ? await ui.choose("Role", await listRoles(ui), { selected: role }) : argument;
  if (name !== undefined) await setRole(ui.client, name.replace(/^@/, ""));
}

export async function listRoles({ client }: Pick<Interface, "client">): Promise<SelectItem[]> {
  const { roles } = await client.execute({ type: "get_available_models" });
  return roles.map((role) => ({ value: role.name, label: role.name, description: describeRole(role) }));
}

export const describeRole = ({ model = "the default model", thinkingLevel, problem }: RoleData): string =>
  problem ?? (thinkingLevel === undefined ? model : `${model}:${thinkingLevel}`);

/** The roles that a key goes through. Those without a model are left out: they are `default`. */
const cycledRoles = ["smol", "default", "slow"];

export async function cycleRole(options: { getClient: () => SessionClient; say: Interface["say"] }): Promise<void> {
  const client = options.getClient();
  const [{ roles }, { role }] = await Promise.all([
    client.execute({ type: "get_available_models" }),
    client.execute({ type: "get_state" }),
  ]);
  const isUsable = (name: string) => roles.some((each) => each.name === name && each.model !== undefined);
  const names = cycledRoles.filter((name) => name === "default" || isUsable(name));
  if (names.length < 2)
    return options.say(
      "Neither of the roles smol and slow has a model. Give them models in the setting roles.",
      "warning",
    );
  const current = Math.max(0, names.indexOf(role === undefined || !names.includes(role) ? "default" : role));
  await setRole(client, names[(current + 1) % names.length]!);
}

const setRole = (client: SessionClient, name: string) => client.execute({ type: "set_model", modelId: `@${name}` });
