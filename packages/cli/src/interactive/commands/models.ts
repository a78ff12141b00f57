/** `/model` and `/scoped-models`. */
import type { ModelData, RoleData } from "@tau/protocol";
import { formatTokens } from "@tau/protocol/surface";
import { getKeybindings, type SelectItem } from "@tau/tui";
import { Picker } from "../dialogs/picker.ts";
import { ScopedModelsDialog } from "../dialogs/scoped-models.ts";
import { reservedRows } from "../dialogs/search-dialog.ts";
import type { Interface } from "../interface.ts";
import { describeRole } from "./roles.ts";

const toName = ({ provider, id }: Pick<ModelData, "provider" | "id">): string => `${provider}/${id}`;

const describe = ({ name, contextWindow, cost }: ModelData): string =>
  [name, `${formatTokens(contextWindow)} context`, formatPrice(cost)].join(" · ");

/** US dollars for a million tokens. */
function formatPrice({ input, output }: ModelData["cost"]): string {
  return input === 0 && output === 0 ? "no price" : `$${input} in, $${output} out per million`;
}

const toItem = (model: ModelData): SelectItem => ({
  value: toName(model),
  label: toName(model),
  description: describe(model),
});

export const listModels = async ({ client }: Pick<Interface, "client">): Promise<SelectItem[]> =>
  listItems(await client.execute({ type: "get_available_models" }));

/** Roles that have a model come before the models. */
const listItems = ({ models, roles }: { models: readonly ModelData[]; roles: readonly RoleData[] }): SelectItem[] => [
  ...toRoleItems(roles),
  ...models.map(toItem),
];

/** None where nobody gave a role a model: `default` always has one. */
function toRoleItems(roles: readonly RoleData[]): SelectItem[] {
  const usable = roles.filter(({ model }) => model !== undefined);
  if (usable.every(({ name }) => name === "default")) return [];
  return usable.map((role) => ({ value: `@${role.name}`, label: `@${role.name}`, description: describeRole(role) }));
}

/** No name of a model begins with a blank. */
const localServers = {
  value: " local",
  label: "Look for local servers",
  description: "Ollama, LM Studio, llama.cpp, vLLM",
};

/** Sets the model that `argument` names exactly; else the user chooses, and `argument` is what is searched for. */
export async function chooseModel(ui: Interface, argument: string): Promise<void> {
  // A role can have a thinking level, and those that exist are in the error message.
  if (argument.startsWith("@")) return void (await ui.client.execute({ type: "set_model", modelId: argument }));
  for (let discover = false; ; discover = true) {
    const [{ models, roles, last }, { model, role, used }, { providers }, { settings }] = await Promise.all([
      ui.client.execute({ type: "get_available_models", discover, last: true }),
      ui.client.execute({ type: "get_state" }),
      ui.client.execute({ type: "get_providers" }),
      ui.client.execute({ type: "get_settings" }),
    ]);
    const exact = models.filter((one) => toName(one) === argument || one.id === argument);
    const value =
      exact.length === 1
        ? toName(exact[0]!)
        : await pickModel(ui, {
            models,
            roles,
            current: role === undefined ? model && toName(model) : `@${role}`,
            last: last && toName(last),
            usual: String(settings["defaultModel"] ?? ""),
            search: argument,
            hint: `${used ? `${used.reason}\n` : ""}${describeProviders(providers)}`,
          });
    if (value === localServers.value) continue;
    if (value?.startsWith("@")) return void (await ui.client.execute({ type: "set_model", modelId: value }));
    const chosen = models.find((one) => toName(one) === value);
    if (chosen) await ui.client.execute({ type: "set_model", provider: chosen.provider, modelId: chosen.id });
    return;
  }
}

interface ModelPick {
  models: readonly ModelData[];
  roles: readonly RoleData[];
  /** The model of the session, or its role. */
  current: string | undefined;
  /** The model that the other sessions of the directory used last. */
  last: string | undefined;
  /** The setting `defaultModel`. */
  usual: string;
  search: string;
  hint: string;
}

/** Resolves to the name that was chosen. A key makes the selected model the one that new sessions begin with. */
function pickModel(
  ui: Interface,
  { models, roles, current, last, search, hint, ...pick }: ModelPick,
): Promise<string | undefined> {
  let { usual } = pick;
  const isUsual = ({ provider, id }: ModelData) => usual === `${provider}/${id}` || usual === id;
  const getItems = () => [
    ...toRoleItems(roles),
    ...orderModels(models, last).map((model) => {
      const { description = "", ...item } = toItem(model);
      const marks = [isUsual(model) ? "default" : "", item.value === last ? "last used here" : ""];
      return { ...item, description: [...marks, description].filter(Boolean).join(" · ") };
    }),
    localServers,
  ];
  const saveKey = ui.describeKey("app.models.save");
  return ui.open((finish) => {
    const picker: Picker = new Picker({
      title: "Model",
      items: getItems(),
      theme: ui.theme,
      size: ui,
      search,
      hint: `${saveKey} makes a model the default of new sessions.\n${hint}`,
      ...(current !== undefined && { selected: current }),
      onKey: (data, item) => {
        const isModel = item !== undefined && item.value !== localServers.value;
        if (!isModel || !getKeybindings().matches(data, "app.models.save")) return false;
        ui.run(async () => {
          await ui.client.execute({ type: "set_setting", key: "defaultModel", value: item.value });
          usual = item.value;
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

/** The model that was used last comes first. Pure. */
function orderModels(models: readonly ModelData[], last: string | undefined): readonly ModelData[] {
  const isLast = (model: ModelData) => toName(model) === last;
  return [...models.filter(isLast), ...models.filter((model) => !isLast(model))];
}

function describeProviders(providers: readonly { name: string; configured: boolean }[]): string {
  const list = (isConfigured: boolean) => {
    const names = providers.filter(({ configured }) => configured === isConfigured).map(({ name }) => name);
    const more = names.length > 8 ? ` and ${names.length - 8} more` : "";
    return names.length === 0 ? "none" : `${names.slice(0, 8).join(", ")}${more}`;
  };
  return `Configured: ${list(true)}. Without a key: ${list(false)}; /login stores one.`;
}

export async function chooseScopedModels(ui: Interface): Promise<void> {
  const { models, scope } = await ui.client.execute({ type: "get_available_models" });
  const names = await ui.open<readonly string[] | undefined>(
    (finish) =>
      new ScopedModelsDialog({
        items: models.map((model) => ({ name: toName(model), provider: model.provider, description: describe(model) })),
        chosen: scope.map(toName),
        theme: ui.theme,
        getMaxRows: () => ui.rows - reservedRows,
        describeKey: (id) => ui.describeKey(id),
        onSave: finish,
        onCancel: () => finish(undefined),
      }),
  );
  if (!names) return;
  // Without the setting, all models count: also those that come later.
  const isAll = names.length === 0 || names.length === models.length;
  await ui.client.execute({ type: "set_setting", key: "enabledModels", ...(!isAll && { value: names }) });
  ui.say(isAll ? "Saved: all models." : `Saved: ${names.join(", ")}`);
}
