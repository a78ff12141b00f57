import { builtInThemes, type SelectItem, systemThemeName } from "@tau/tui";
import type { Interface } from "../interface.ts";

/** Chooses a theme, with each shown while it is selected, and stores the choice in the user's settings. */
export async function chooseTheme(ui: Interface, argument: string): Promise<void> {
  const { themes } = ui;
  const names = argument.split("/").map((name) => name.trim());
  const unknown = names.find((name) => !themes.names.includes(name));
  if (argument !== "" && (unknown !== undefined || names.length > 2)) {
    return ui.say(`There is no theme ${JSON.stringify(unknown)}. There are: ${themes.names.join(", ")}.`, "error");
  }
  const name = argument === "" ? await pick(ui) : names.join("/");
  if (name === undefined) return;
  await ui.client.execute({ type: "set_setting", key: "theme", value: name });
  themes.setSetting(name);
  ui.say(`Theme: ${name}`);
}

async function pick(ui: Interface): Promise<string | undefined> {
  const { themes } = ui;
  try {
    return await ui.choose("Theme", listThemes(ui), {
      selected: themes.setting,
      hint: "/theme LIGHT/DARK chooses one for each kind of terminal.",
      onHighlight: (value) => themes.preview(value),
    });
  } finally {
    themes.preview(undefined);
  }
}

export const listThemes = ({ themes }: Pick<Interface, "themes">): SelectItem[] =>
  [...themes.names, "light/dark"].map((name) => ({ value: name, label: name, description: describe(name) }));

function describe(name: string): string {
  if (name === systemThemeName) return "made from the colors of the terminal";
  if (name.includes("/")) return "follows the terminal";
  return builtInThemes.some((theme) => theme.name === name) ? "built in" : "";
}
