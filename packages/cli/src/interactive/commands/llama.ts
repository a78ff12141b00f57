/** `/llama`: loads and unloads models of a llama.cpp router. */
import type { Interface } from "../interface.ts";

const isLoaded = (status: string): boolean => status === "loaded" || status === "sleeping";

export async function manageLlama(ui: Interface, argument: string): Promise<void> {
  const router = await ui.program.openLlamaRouter();
  const models = await router.list();
  const items = models.map(({ id, status }) => ({ value: id, label: id, description: status }));
  const hint = "Enter loads a model, or unloads one that is loaded";
  const chosen = argument === "" ? await ui.choose("llama.cpp", items, { search: "", hint }) : argument.trim();
  if (chosen === undefined) return;
  const model = models.find(({ id }) => id === chosen);
  if (!model) return ui.say(`The router at ${router.address} has no model ${chosen}.`, "warning");
  if (isLoaded(model.status)) {
    await router.unload(model.id);
    return ui.say(`${model.id} is unloaded.`);
  }
  const others = models.filter(({ id, status }) => id !== model.id && isLoaded(status));
  if (others.length > 0) {
    const names = others.map(({ id }) => id).join(", ");
    const answer = await ui.choose(`Loaded are: ${names}`, [
      { value: "keep", label: "Keep them loaded" },
      { value: "unload", label: "Unload them first" },
    ]);
    if (answer === undefined) return;
    if (answer === "unload") for (const other of others) await router.unload(other.id);
  }
  ui.say(`${model.id} is being loaded…`, "dim");
  await router.load(model.id);
  ui.say(`${model.id} is loaded. /model llamacpp/${model.id} uses it.`);
}
