/** The login of a provider of an extension, with pi's callbacks, as a login of ours. */
import type { CustomLogin } from "../auth/custom-login.ts";
import type { LoginInteraction, LoginQuestion } from "../auth/login-interaction.ts";
import type { OAuthLoginCallbacks, ProviderConfig } from "./provider-config.ts";

export const toCustomLogin = (id: string, oauth: NonNullable<ProviderConfig["oauth"]>): CustomLogin => ({
  id,
  name: oauth.name,
  login: (interaction, signal) => oauth.login(createCallbacks(interaction, signal)),
  renew: (credential, signal) => oauth.refreshToken(credential, signal),
  getKey: (credential) => oauth.getApiKey(credential),
});

function createCallbacks({ notify, ask }: LoginInteraction, signal: AbortSignal): OAuthLoginCallbacks {
  const prompt = async (question: LoginQuestion): Promise<string> => {
    if (!ask) throw new Error("It asks for something, and nobody can be asked here.");
    const answer = await ask(question, signal);
    if (answer === undefined) throw new Error("It was cancelled.");
    return answer;
  };
  return {
    onAuth: (info) => notify({ type: "auth_url", ...info }),
    onDeviceCode: ({ userCode, verificationUri, intervalSeconds = 5, expiresInSeconds = 900 }) =>
      notify({
        type: "device_code",
        userCode,
        verificationUrl: verificationUri,
        intervalMs: intervalSeconds * 1000,
        lifetimeMs: expiresInSeconds * 1000,
      }),
    onPrompt: async ({ allowEmpty = false, ...question }) => {
      const answer = await prompt(question);
      if (answer === "" && !allowEmpty) throw new Error("Nothing was typed.");
      return answer;
    },
    onProgress: (text) => notify({ type: "message", text }),
    onManualCodeInput: () => prompt({ message: "Paste the final address, or the code in it" }),
    onSelect: (question) => prompt(question),
    signal,
  };
}
