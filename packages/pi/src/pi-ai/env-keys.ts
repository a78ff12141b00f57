/** API keys in the environment. A second argument has variables that precede those of the process. */
import { findEnvKeys as findKeys, getEnvApiKey as getKey } from "@tau/ai";

export const ANTHROPIC_API_KEY_ENV = "ANTHROPIC_API_KEY";
export const ANTHROPIC_AUTH_TOKEN_ENV = "ANTHROPIC_AUTH_TOKEN";
export const ANTHROPIC_OAUTH_TOKEN_ENV = "ANTHROPIC_OAUTH_TOKEN";
export const ANTHROPIC_FEDERATION_RULE_ID_ENV = "ANTHROPIC_FEDERATION_RULE_ID";
export const ANTHROPIC_ORGANIZATION_ID_ENV = "ANTHROPIC_ORGANIZATION_ID";
export const ANTHROPIC_SERVICE_ACCOUNT_ID_ENV = "ANTHROPIC_SERVICE_ACCOUNT_ID";
export const ANTHROPIC_IDENTITY_TOKEN_FILE_ENV = "ANTHROPIC_IDENTITY_TOKEN_FILE";
export const ANTHROPIC_WORKSPACE_ID_ENV = "ANTHROPIC_WORKSPACE_ID";

type Variables = Readonly<Record<string, string>>;

const read = (variables: Variables) => (name: string) => variables[name] ?? process.env[name];

export const findEnvKeys = (provider: string, variables: Variables = {}): string[] | undefined =>
  findKeys(provider, read(variables));

export const getEnvApiKey = (provider: string, variables: Variables = {}): string | undefined =>
  getKey(provider, read(variables));
