/** The login of a provider of an extension, with pi's callbacks, as a login of ours. */
import { untilAborted } from "@tau/ai/internal";
import type { CustomLogin, LoginEvent, LoginInteraction, LoginQuestion } from "@tau/config/auth";
import { formatLoginCommand } from "@tau/config/internal";
import type { OAuthLoginCallbacks, ProviderConfig } from "./provider-config.ts";
import { ExtensionError } from "../errors.ts";

/** `removed` aborts when the provider is taken away: nobody could use what the login gives then. */
export const toCustomLogin = (
  id: string,
  oauth: NonNullable<ProviderConfig["oauth"]>,
  removed: AbortSignal,
): CustomLogin => ({
  id,
  // Extensions in JavaScript leave it out.
  name: oauth.name ?? id,
  async login(interaction, signal) {
    const end = new AbortController();
    try {
      const given = AbortSignal.any([signal, removed]);
      const ended = AbortSignal.any([given, end.signal]);
      const login = async () => await oauth.login(createCallbacks(interaction, given, ended));
      const outcome = await untilAborted(login(), removed);
      if (outcome.kind === "done") return outcome.value;
      throw new ExtensionError("closed", "Its provider was taken away.");
    } catch (error) {
      if (!removed.aborted) throw error;
      throw new ExtensionError(
        "closed",
        `its extension was loaded again or removed. Log in again: ${formatLoginCommand(id, true)}`,
        {
          cause: error,
        },
      );
    } finally {
      // Closes questions that are no longer needed, such as the one for a code if the browser came back by itself.
      end.abort();
    }
  },
  renew: (credential, signal) => oauth.refreshToken(credential, signal),
  getKey: (credential) => oauth.getApiKey(credential),
});

/** `signal` is for the extension. `ended` aborts with it, and at the end of the login. */
function createCallbacks(interaction: LoginInteraction, signal: AbortSignal, ended: AbortSignal): OAuthLoginCallbacks {
  const { ask } = interaction;
  const notify = (event: LoginEvent) => void (!ended.aborted && interaction.notify(event));
  const askUser = async (question: LoginQuestion, allowEmpty: boolean): Promise<string> => {
    if (!ask) throw new ExtensionError("unavailable", "It asks for something, and nobody can be asked here.");
    const answer = ended.aborted ? undefined : await ask(question, ended);
    if (answer === undefined) throw new ExtensionError("cancelled", "It was cancelled.");
    if (answer === "" && !allowEmpty) throw new ExtensionError("cancelled", "Nothing was typed.");
    return answer;
  };
  const prompt = (question: LoginQuestion, allowEmpty = false): Promise<string> => {
    const answer = askUser(question, allowEmpty);
    // An extension that no longer waits for the answer must not end the program.
    answer.catch(() => {});
    return answer;
  };
  return {
    onAuth: ({ url, instructions }) =>
      notify({
        type: "auth_url",
        url: takeText(url, "url of onAuth"),
        ...(instructions !== undefined && { instructions: String(instructions) }),
      }),
    onDeviceCode: ({ userCode, verificationUri, intervalSeconds = 5, expiresInSeconds = 900 }) =>
      notify({
        type: "device_code",
        userCode: takeText(userCode, "userCode of onDeviceCode"),
        verificationUrl: takeText(verificationUri, "verificationUri of onDeviceCode"),
        intervalMs: intervalSeconds * 1000,
        lifetimeMs: expiresInSeconds * 1000,
      }),
    onPrompt: ({ allowEmpty = false, message, ...question }) =>
      prompt({ ...question, message: String(message) }, allowEmpty),
    onProgress: (text) => notify({ type: "message", text: String(text) }),
    onManualCodeInput: () => prompt({ message: "Paste the final address, or the code in it" }),
    onSelect({ message, options }) {
      const choices = options.map(({ id, label }) => ({ id: takeText(id, "id of onSelect"), label: String(label) }));
      return prompt({ message: String(message), options: choices });
    },
    signal,
  };
}

/** Extensions in JavaScript can say anything, and surfaces show it. */
function takeText(value: unknown, what: string): string {
  if (typeof value === "string" && value !== "") return value;
  throw new ExtensionError("invalid_result", `${what} has to be a text.`);
}
