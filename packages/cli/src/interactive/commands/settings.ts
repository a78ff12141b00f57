/** `/settings` */
import { getErrorMessage } from "@tau/ai/internal";
import type { SettingData } from "@tau/protocol";
import { SettingsDialog } from "../dialogs/settings.ts";
import type { Interface } from "../interface.ts";
import { formatSetting, formatValue, getOtherValue, parseSetting, toEditable, toStored } from "../setting-values.ts";
import { chooseTheme } from "./theme.ts";

/** Settings that have a better way to be chosen than a text. */
const ownEditors: Readonly<Record<string, (ui: Interface) => Promise<void>>> = {
  theme: (ui) => chooseTheme(ui, ""),
};

export async function changeSettings(ui: Interface): Promise<void> {
  const settings = await list(ui);
  await ui.open<void>((finish) => {
    const dialog = new SettingsDialog({
      settings,
      theme: ui.theme,
      getRows: () => ui.rows,
      onCancel: () => finish(),
      onChange: (setting) =>
        ui.run(async () => {
          try {
            await change(ui, setting);
            dialog.setSettings(await list(ui));
          } catch (error) {
            // What fails is said in the dialog, since remarks are behind it.
            dialog.say(getErrorMessage(error));
          }
          ui.redraw();
        }),
    });
    return dialog;
  });
}

const list = async (ui: Interface): Promise<readonly SettingData[]> =>
  (await ui.client.execute({ type: "list_settings" })).settings;

async function change(ui: Interface, setting: SettingData): Promise<void> {
  const { key, choices } = setting;
  const edit = ownEditors[key];
  if (edit) return await edit(ui);
  const other = getOtherValue(setting);
  if (other !== undefined) return await store(ui, setting, other);
  const value = choices ? await choose(ui, setting, choices) : await ask(ui, setting);
  if (value) await store(ui, setting, value.value);
}

interface Chosen {
  /** Undefined stands for the default. */
  value: unknown;
}

async function choose(
  ui: Interface,
  { key, value, default: standard }: SettingData,
  choices: NonNullable<SettingData["choices"]>,
): Promise<Chosen | undefined> {
  const items = choices.map((choice, index) => ({
    value: String(index),
    label: formatSetting(choice),
    ...(choice === standard && { description: "the default" }),
  }));
  const selected = String(choices.findIndex((choice) => choice === value));
  const index = await ui.choose(key, items, { selected });
  return index === undefined ? undefined : { value: choices[Number(index)] };
}

async function ask(ui: Interface, setting: SettingData): Promise<Chosen | undefined> {
  const { key, type, default: standard } = setting;
  const usual = standard === undefined ? "" : `, ${formatValue(setting, standard)}`;
  const question = `${key} (${type}; empty: the default${usual})`;
  const text = await ui.ask(question, { initial: toEditable(setting) });
  if (text === undefined) return undefined;
  return { value: text.trim() === "" ? undefined : parseSetting(setting, text) };
}

async function store(ui: Interface, setting: SettingData, value: unknown): Promise<void> {
  const stored = toStored(setting, value);
  await ui.client.execute({ type: "set_setting", key: setting.key, ...(stored !== undefined && { value: stored }) });
}
