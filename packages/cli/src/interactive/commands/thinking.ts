/** `/thinking`, and the thinking level that new sessions begin with. */
import type { ModelData, ThinkingLevelName } from "@tau/protocol";
import { toFields } from "@tau/protocol/surface";
import { getKeybindings, type SelectItem } from "@tau/tui";
import { Picker } from "../dialogs/picker.ts";
import type { Interface } from "../interface.ts";
import type { SessionClient } from "../session-client.ts";

/** The levels that new sessions begin with, as the settings have them. */
interface StartLevels {
  usual: unknown;
  /** By `provider/model`. */
  byModel: Readonly<Record<string, unknown>>;
}

async function readStartLevels(client: SessionClient): Promise<StartLevels> {
  const { settings } = await client.execute({ type: "get_settings" });
  return { usual: settings["defaultThinkingLevel"], byModel: toFields(settings["modelThinkingLevels"]) };
}

const toName = ({ provider, id }: Pick<ModelData, "provider" | "id">): string => `${provider}/${id}`;

const saveForModel = (client: SessionClient, model: string, level: string) =>
  client.execute({ type: "set_setting", key: "modelThinkingLevels", value: { [model]: level } });

export async function listLevels({ client }: Pick<Interface, "client">): Promise<SelectItem[]> {
  const { levels } = await client.execute({ type: "get_available_thinking_levels" });
  return levels.map((level) => ({ value: level, label: level }));
}

/** Sets the level that `argument` names; else the user chooses. */
export async function chooseThinking(ui: Interface, argument: string): Promise<void> {
  const level = argument === "" ? await pickLevel(ui) : argument;
  if (level !== undefined) await ui.client.execute({ type: "set_thinking_level", level: level as ThinkingLevelName });
}

/** Resolves to the level that was chosen. A key makes the selected one the level that the model begins new sessions with. */
async function pickLevel(ui: Interface): Promise<string | undefined> {
  const [levels, { thinkingLevel, model }, start] = await Promise.all([
    listLevels(ui),
    ui.client.execute({ type: "get_state" }),
    readStartLevels(ui.client),
  ]);
  const name = model && toName(model);
  let startLevel = (name === undefined ? undefined : start.byModel[name]) ?? start.usual;
  const getItems = () =>
    levels.map((item) => (item.value === startLevel ? { ...item, description: "new sessions begin with it" } : item));
  const hint = `${ui.describeKey("app.thinking.save")} makes a level the one that new sessions with ${name ?? ""} begin with.`;
  return await ui.open((finish) => {
    const picker: Picker = new Picker({
      title: "Thinking level",
      items: getItems(),
      theme: ui.theme,
      size: ui,
      selected: thinkingLevel,
      ...(name !== undefined && { hint }),
      onKey: (data, item) => {
        if (!item || name === undefined || !getKeybindings().matches(data, "app.thinking.save")) return false;
        ui.run(async () => {
          await saveForModel(ui.client, name, item.value);
          startLevel = item.value;
          picker.setItems(getItems());
          ui.redraw();
        });
        return true;
      },
      onSelect: ({ value }) => finish(value),
      onCancel: () => finish(undefined),
    });
    return picker;
  });
}

/** Makes the level of the session the one that new sessions begin with: those of its model, if that has one of its own. */
export async function saveThinkingLevel(client: SessionClient, say: Interface["say"]): Promise<void> {
  const [{ thinkingLevel, model }, { byModel }] = await Promise.all([
    client.execute({ type: "get_state" }),
    readStartLevels(client),
  ]);
  const name = model && toName(model);
  if (name !== undefined && byModel[name] !== undefined) {
    await saveForModel(client, name, thinkingLevel);
    return say(`New sessions with ${name} start with the thinking level ${thinkingLevel}.`);
  }
  await client.execute({ type: "set_setting", key: "defaultThinkingLevel", value: thinkingLevel });
  say(`New sessions start with the thinking level ${thinkingLevel}.`);
}
