/** Connecting providers: the first start without a model, `/login` and `/logout`. */
import { getErrorMessage } from "@tau/ai/internal";
import type { ProviderData } from "@tau/protocol";
import { getKeybindings, type SelectItem } from "@tau/tui";
import { LoginDialog } from "../dialogs/login.ts";
import type { Interface } from "../interface.ts";
import { chooseModel } from "./models.ts";

const withoutModel = [
  "No model can be used yet. /login connects a provider.",
  "A local server (Ollama, LM Studio, llama.cpp, vLLM) needs no key: start it, then /model.",
].join("\n");

/** How many providers are listed before what needs none. */
const maxFirstProviders = 4;

/** No name of a provider has a blank. */
const others = {
  model: { value: " model", label: "Choose another model", description: "of a provider that is connected" },
  local: {
    value: " local",
    label: "A server on this machine",
    description: "Ollama, LM Studio, llama.cpp or vLLM; no key",
  },
  demo: { value: " demo", label: "Look at a demo first", description: "a scripted model, offline; no key" },
} as const;

/** Asks until a model can be used, or the user does not want to be asked. */
export async function connectFirst(ui: Interface): Promise<void> {
  for (let selected = ""; ;) {
    const { model, modelProblem } = await ui.client.execute({ type: "get_state" });
    if (model) return;
    const providers = await getProviders(ui);
    const hint = `${modelProblem === undefined ? "" : `${modelProblem}\n`}Type to search. Escape: not now.`;
    const choice = await ui.choose("Which model do you want to use?", listFirstChoices(providers), {
      hint,
      selected,
      confirmsSearch: true,
    });
    if (choice === undefined) return ui.say(withoutModel, "warning");
    selected = choice;
    try {
      await take(ui, choice, providers);
    } catch (error) {
      ui.say(getErrorMessage(error), "error");
    }
  }
}

function listFirstChoices(providers: readonly ProviderData[]): SelectItem[] {
  const items = providers.map(toItem);
  const hasModels = providers.some(({ configured }) => configured);
  return [
    ...(hasModels ? [others.model] : []),
    ...items.slice(0, maxFirstProviders),
    others.local,
    others.demo,
    ...items.slice(maxFirstProviders),
  ];
}

async function take(ui: Interface, choice: string, providers: readonly ProviderData[]): Promise<void> {
  const provider = providers.find(({ name }) => name === choice);
  if (provider) return await connect(ui, provider);
  if (choice === others.demo.value) return await showDemo(ui);
  if (choice === others.model.value) return await chooseModel(ui, "");
  const { models } = await ui.client.execute({ type: "get_available_models", discover: true });
  if (models.length === 0)
    return ui.say("No server answers at its usual address. Start it, then try again.", "warning");
  await chooseModel(ui, "");
}

async function showDemo(ui: Interface): Promise<void> {
  const here = ui.client;
  const demo = await ui.program.openDemo();
  try {
    await ui.move(demo.client);
    ui.say("This is a demo: the model follows a script. The tools, the files and the log are real.");
    await demo.client.execute({ type: "execute", prompt: demo.request });
    await ui.choose("That was the demo.", [{ value: "back", label: "Continue" }], {
      hint: "Its project is temporary, and is removed now.",
    });
  } finally {
    await ui.move(here);
    await demo.close();
  }
}

/** `/login [PROVIDER]` */
export async function login(ui: Interface, argument: string): Promise<void> {
  const providers = await getProviders(ui);
  const name = argument === "" ? await ui.choose("Connect which provider?", providers.map(toItem)) : argument;
  if (name === undefined) return;
  const provider = providers.find((one) => one.name === name);
  if (provider) return await connect(ui, provider);
  const names = providers.map((one) => one.name).join(", ");
  ui.say(`There is no provider ${JSON.stringify(name)}, and nothing was stored. There are: ${names}.`, "error");
}

/** `/logout [PROVIDER]` */
export async function logout(ui: Interface, argument: string): Promise<void> {
  const configured = await listConfigured(ui);
  if (argument === "" && configured.length === 0) return ui.say("No provider is connected.");
  const provider = argument === "" ? await ui.choose("Log out of which provider?", configured) : argument;
  if (provider === undefined) return;
  const { removed } = await ui.client.execute({ type: "logout", provider });
  ui.say(
    removed
      ? `Removed what was stored for ${provider}.`
      : `Nothing was stored for ${provider}. Keys of the environment and of models.json stay.`,
  );
}

const getProviders = async ({ client }: Pick<Interface, "client">): Promise<readonly ProviderData[]> =>
  (await client.execute({ type: "get_providers" })).providers;

export const listProviders = async (source: Pick<Interface, "client">): Promise<SelectItem[]> =>
  (await getProviders(source)).map(toItem);

export const listConfigured = async (source: Pick<Interface, "client">): Promise<SelectItem[]> =>
  (await getProviders(source)).filter(({ configured }) => configured).map(toItem);

const toItem = ({ name, configured, modelCount, login: title }: ProviderData): SelectItem => ({
  value: name,
  label: name,
  description: [
    ...(configured ? ["connected"] : []),
    `${modelCount} ${modelCount === 1 ? "model" : "models"}`,
    title === undefined ? "with a key" : `with a key, or ${title}`,
  ].join(" · "),
});

async function connect(ui: Interface, provider: ProviderData): Promise<void> {
  const { name, login: title } = provider;
  const method = title === undefined ? "key" : await chooseMethod(ui, name, title);
  if (method === undefined) return;
  if (method === "login") await logIn(ui, name);
  else {
    const apiKey = await ui.ask(`Paste the key for ${name}. It is not shown.`, { hidden: true });
    if (apiKey === undefined || apiKey.trim() === "") return;
    await ui.client.execute({ type: "login", provider: name, apiKey });
  }
  await useModelOf(ui, provider);
}

const chooseMethod = (ui: Interface, name: string, title: string): Promise<string | undefined> =>
  ui.choose(`How do you want to connect ${name}?`, [
    { value: "key", label: "Paste an API key" },
    { value: "login", label: "Log in through the browser", description: title },
  ]);

/**
 * Logs in. Messages of the login come as notices of the session. The address is shown, and opened where there is a
 * browser.
 */
async function logIn(ui: Interface, provider: string): Promise<void> {
  const dialog = new LoginDialog({
    theme: ui.theme,
    copyKey: ui.describeKey("app.message.copy"),
    isCopyKey: (data) => getKeybindings().matches(data, "app.message.copy"),
    onCopy: (url) => ui.copy(url),
    onPaste: (text) => ui.run(async () => void (await ui.client.execute({ type: "paste_login", text }))),
    onCancel: () => ui.run(async () => void (await ui.client.execute({ type: "abort_login" }))),
  });
  const stop = ui.takeNotices("login", (message) => {
    const url = /https?:\/\/\S+/.exec(message)?.[0];
    dialog.setMessage(message, url);
    if (url !== undefined) ui.program.openAddress(url);
    ui.redraw();
  });
  try {
    const work = ui.client.execute({ type: "login", provider, paste: true });
    await ui.open<void>((finish) => {
      const close = () => finish();
      work.then(close, close);
      return dialog;
    });
    await work;
  } finally {
    stop();
  }
}

/** A session without a model gets the usual one of the provider. */
async function useModelOf(ui: Interface, { name, defaultModel }: ProviderData): Promise<void> {
  const { model } = await ui.client.execute({ type: "get_state" });
  if (model) return ui.say(`${name} is connected. /model chooses one of its models.`);
  const [{ models }, { settings }] = await Promise.all([
    ui.client.execute({ type: "get_available_models" }),
    ui.client.execute({ type: "get_settings" }),
  ]);
  const own = models.filter(({ provider }) => provider === name);
  const find = (id: unknown) => own.find((one) => one.id === id || `${name}/${one.id}` === id);
  const chosen = find(settings["defaultModel"]) ?? find(defaultModel) ?? own[0];
  if (!chosen) return ui.say(`${name} is connected, but has no models.`, "warning");
  await ui.client.execute({ type: "set_model", provider: name, modelId: chosen.id });
  ui.say(`${name} is connected, and you use ${name}/${chosen.id}. /model chooses another model.`);
}
