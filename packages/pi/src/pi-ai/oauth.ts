/** pi's module `pi-ai/oauth`. Version 1.5 has only types in it; the functions are those of earlier versions. */
import type { Model } from "@tau/ai";
import { notThere } from "../not-there.ts";

const why = "log in with /login or `tau auth login`; extensions bring a login of their own with registerProvider.";

export const anthropicOAuthProvider = notThere("anthropicOAuthProvider", why);
export const antigravityOAuthProvider = notThere("antigravityOAuthProvider", why);
export const geminiCliOAuthProvider = notThere("geminiCliOAuthProvider", why);
export const getGitHubCopilotBaseUrl = notThere("getGitHubCopilotBaseUrl", why);
export const getOAuthApiKey = notThere("getOAuthApiKey", why);
export const githubCopilotOAuthProvider = notThere("githubCopilotOAuthProvider", why);
export const loginAnthropic = notThere("loginAnthropic", why);
export const loginAntigravity = notThere("loginAntigravity", why);
export const loginGeminiCli = notThere("loginGeminiCli", why);
export const loginGitHubCopilot = notThere("loginGitHubCopilot", why);
export const loginOpenAICodex = notThere("loginOpenAICodex", why);
export const normalizeDomain = notThere("normalizeDomain", why);
export const openaiCodexOAuthProvider = notThere("openaiCodexOAuthProvider", why);
export const refreshAnthropicToken = notThere("refreshAnthropicToken", why);
export const refreshAntigravityToken = notThere("refreshAntigravityToken", why);
export const refreshGitHubCopilotToken = notThere("refreshGitHubCopilotToken", why);
export const refreshGoogleCloudToken = notThere("refreshGoogleCloudToken", why);
export const refreshOAuthToken = notThere("refreshOAuthToken", why);
export const refreshOpenAICodexToken = notThere("refreshOpenAICodexToken", why);

export interface OAuthProvider {
  readonly id: string;
  readonly name: string;
  login?(callbacks: unknown): Promise<Record<string, unknown>>;
  refreshToken?(credentials: Record<string, unknown>, signal: AbortSignal): Promise<Record<string, unknown>>;
  getApiKey?(credentials: Record<string, unknown>): string;
  /** Called with the models of all providers when its own are registered, if it is logged in. */
  modifyModels?(models: Model[], credentials: Record<string, unknown>): Model[];
}

/** The logins of extensions. */
const registered = new Map<string, OAuthProvider>();

export const getOAuthProvider = (id: string): OAuthProvider | undefined => registered.get(id);
export const getOAuthProviders = (): OAuthProvider[] => [...registered.values()];
export const getOAuthProviderInfoList = (): { id: string; name: string; available: boolean }[] =>
  getOAuthProviders().map(({ id, name }) => ({ id, name, available: true }));
export const registerOAuthProvider = (provider: OAuthProvider): void => void registered.set(provider.id, provider);
export const unregisterOAuthProvider = (id: string): void => void registered.delete(id);
export const resetOAuthProviders = (): void => registered.clear();
