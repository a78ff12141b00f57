/** The OAuth providers, as data. Where the addresses and ids are from: `docs/decisions/providers.md`. */
import type { OAuthProvider } from "./oauth-provider.ts";

const openai = "https://auth.openai.com";

const chatgpt = {
  name: "OpenAI (ChatGPT Plus or Pro)",
  clientId: "app_EMoamEEZ73f0CkXaXp7hrann",
  scopes: ["openid", "profile", "email", "offline_access"],
  tokenUrl: `${openai}/oauth/token`,
  browser: {
    authorizeUrl: `${openai}/oauth/authorize`,
    parameters: { id_token_add_organizations: "true", codex_cli_simplified_flow: "true", originator: "tau" },
    redirect: { port: 1455, isFixed: true, path: "/auth/callback" },
  },
  device: {
    dialect: "openai",
    startUrl: `${openai}/api/accounts/deviceauth/usercode`,
    pollUrl: `${openai}/api/accounts/deviceauth/token`,
    verificationUrl: `${openai}/codex/device`,
    redirectUrl: `${openai}/deviceauth/callback`,
  },
  claims: { accountId: ["https://api.openai.com/auth", "chatgpt_account_id"] },
} as const satisfies Omit<OAuthProvider, "id">;

export const oauthProviders: readonly OAuthProvider[] = [
  {
    id: "anthropic",
    name: "Anthropic (Claude Pro or Max)",
    clientId: "9d1c250a-e61b-44d9-88ed-5944d1962f5e",
    scopes: [
      "org:create_api_key",
      "user:profile",
      "user:inference",
      "user:sessions:claude_code",
      "user:mcp_servers",
      "user:file_upload",
    ],
    tokenUrl: "https://platform.claude.com/v1/oauth/token",
    format: "json",
    browser: {
      authorizeUrl: "https://claude.ai/oauth/authorize",
      parameters: { code: "true" },
      redirect: { port: 53_692, path: "/callback" },
      pasteRedirectUrl: "https://platform.claude.com/oauth/code/callback",
      sendsState: true,
    },
  },
  { id: "openai", ...chatgpt, hosts: ["chatgpt.com"], modelsOf: "openai-codex" },
  { id: "openai-codex", ...chatgpt },
  {
    id: "github-copilot",
    name: "GitHub Copilot",
    clientId: "Iv1.b507a08c87ecfe98",
    scopes: ["read:user"],
    domain: { default: "github.com", question: "Host of GitHub Enterprise, such as company.ghe.com" },
    tokenUrl: "https://{domain}/login/oauth/access_token",
    device: { dialect: "standard", startUrl: "https://{domain}/login/device/code" },
    exchange: { url: "https://api.{domain}/copilot_internal/v2/token", modelsPath: "/models" },
  },
  {
    id: "kimi-coding",
    name: "Kimi Code",
    clientId: "17e5f671-d194-4dfb-9706-5516cb48c098",
    scopes: [],
    tokenUrl: "https://auth.kimi.com/api/oauth/token",
    device: { dialect: "standard", startUrl: "https://auth.kimi.com/api/oauth/device_authorization" },
  },
  {
    id: "openrouter",
    name: "OpenRouter",
    clientId: "",
    scopes: [],
    tokenUrl: "https://openrouter.ai/api/v1/auth/keys",
    format: "json",
    browser: {
      authorizeUrl: "https://openrouter.ai/auth",
      dialect: "key",
      redirect: { port: 3000, path: "/callback" },
    },
  },
  {
    id: "xai",
    name: "xAI (SuperGrok or X Premium)",
    clientId: "b1a00492-073a-47ea-816f-4c329264a828",
    scopes: ["openid", "profile", "email", "offline_access", "grok-cli:access", "api:access"],
    tokenUrl: "https://auth.x.ai/oauth2/token",
    device: { dialect: "standard", startUrl: "https://auth.x.ai/oauth2/device/code" },
  },
];
