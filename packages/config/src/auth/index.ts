/** Credentials, and logging in. */
export type { ApiKeyOutcome, AuthStorageOptions, CredentialInfo, GetApiKeyOptions, Renewal } from "./auth-options.ts";
export { type AuthChange, AuthStorage } from "./auth-storage.ts";
export type { CustomLogin } from "./custom-login.ts";
export type { ApiKeyCredential, Credential, OAuthCredential } from "./credential.ts";
export type { AuthFailure, AuthFailureKind, AuthNotice } from "./failure.ts";
export type { KeyChain } from "./key-chain.ts";
export type { KeyList, KeySource, ModelsKey } from "./key-source.ts";
export type { CredentialPlace, MoveOptions } from "./move-credentials.ts";
export { chooseKeyChain, createSystemKeyChain } from "./system-key-chain.ts";
export { literalKey } from "./key-value.ts";
export { checkProvider, type ProviderSources } from "./known-provider.ts";
export type { LoginEvent, LoginInteraction, LoginQuestion } from "./login-interaction.ts";
export { type LoginMethod, loginMethods, type LoginOptions, type LoginOutcome } from "./login.ts";
export type { BrowserLogin, DeviceLogin, OAuthProvider, TokenExchange } from "./oauth-provider.ts";
export { oauthProviders } from "./oauth-providers.ts";
export type { ServedModels } from "./served-models.ts";
export { parseTypedKey, type TypedKey } from "./typed-key.ts";
