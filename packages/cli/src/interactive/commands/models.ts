/** `/model` and `/scoped-models`. */
import type { ModelData } from "@tau/protocol";
import type { SelectItem } from "@tau/tui";
import { ScopedModelsDialog } from "../dialogs/scoped-models.ts";
import { reservedRows } from "../dialogs/search-dialog.ts";
import type { Interface } from "../interface.ts";
import { formatTokens } from "../status-line.ts";

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
  (await client.execute({ type: "get_available_models" })).models.map(toItem);

/** No name of a model begins with a blank. */
const localServers = {
  value: " local",
  label: "Look for local servers",
  description: "Ollama, LM Studio, llama.cpp, vLLM",
};

/** Sets the model that `argument` names exactly; else the user chooses, and `argument` is what is searched for. */
export async function chooseModel(ui: Interface, argument: string): Promise<void> {
  for (let discover = false; ; discover = true) {
    const [{ models }, { model }, { providers }] = await Promise.all([
      ui.client.execute({ type: "get_available_models", discover }),
      ui.client.execute({ type: "get_state" }),
      ui.client.execute({ type: "get_providers" }),
    ]);
    const exact = models.filter((one) => toName(one) === argument || one.id === argument);
    const items = [...models.map(toItem), localServers];
    const options = { search: argument, hint: describeProviders(providers), ...(model && { selected: toName(model) }) };
    const value = exact.length === 1 ? toName(exact[0]!) : await ui.choose("Model", items, options);
    if (value === localServers.value) continue;
    const chosen = models.find((one) => toName(one) === value);
    if (chosen) await ui.client.execute({ type: "set_model", provider: chosen.provider, modelId: chosen.id });
    return;
  }
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
