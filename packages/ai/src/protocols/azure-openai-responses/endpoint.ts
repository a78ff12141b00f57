/** Resolves the URL and the deployment name of an Azure resource from options and environment. */
import type { OpenAIResponsesOptions } from "../openai-responses/options.ts";
import { type AuthContext, MissingCredentials } from "../protocol.ts";

export interface AzureOptions extends OpenAIResponsesOptions {
  /** Default: `AZURE_OPENAI_BASE_URL`, else the resource's own, else the model's. */
  azureBaseUrl?: string;
  /** `NAME` in `NAME.openai.azure.com`. Default: `AZURE_OPENAI_RESOURCE_NAME`. */
  azureResourceName?: string;
  /** Default: `AZURE_OPENAI_API_VERSION`, else `v1`. */
  azureApiVersion?: string;
  /** Default: the model's entry in `AZURE_OPENAI_DEPLOYMENT_NAME_MAP` (`model=deployment,…`), else the model's id. */
  azureDeploymentName?: string;
}

type Lookup = Pick<AuthContext<AzureOptions>, "model" | "options" | "env">;

/** The request URL, with the API version in its query. Throws `MissingCredentials` if no base URL is configured. */
export function resolveResponsesUrl({ model, options, env }: Lookup): string {
  const resource = options.azureResourceName || env("AZURE_OPENAI_RESOURCE_NAME");
  const base =
    options.azureBaseUrl?.trim() ||
    env("AZURE_OPENAI_BASE_URL")?.trim() ||
    (resource && `https://${resource}.openai.azure.com`) ||
    model.baseUrl;
  if (!base) {
    throw new MissingCredentials(
      "There is no base URL for Azure OpenAI. Set AZURE_OPENAI_BASE_URL or AZURE_OPENAI_RESOURCE_NAME (in code: the option azureBaseUrl or azureResourceName).",
    );
  }
  if (!URL.canParse(base)) {
    throw new MissingCredentials(
      `${JSON.stringify(base)} is not a valid base URL for Azure OpenAI. Check AZURE_OPENAI_BASE_URL, AZURE_OPENAI_RESOURCE_NAME, azureBaseUrl and azureResourceName; it should look like https://NAME.openai.azure.com.`,
    );
  }
  const url = new URL(base);
  url.pathname = `${resolveBasePath(url)}/responses`;
  url.searchParams.set("api-version", options.azureApiVersion || env("AZURE_OPENAI_API_VERSION") || "v1");
  return url.toString();
}

const azureHost = /\.(openai|cognitiveservices|ai)\.azure\.com$/;

/** Azure's portal shows the endpoint with any of these paths; all of them mean the same API. */
const portalPaths = new Set(["", "/openai", "/openai/v1", "/openai/v1/responses"]);

function resolveBasePath(url: URL): string {
  const path = url.pathname.replace(/\/+$/, "");
  return azureHost.test(url.hostname) && portalPaths.has(path) ? "/openai/v1" : path;
}

export function resolveDeploymentName({ model, options, env }: Lookup): string {
  return options.azureDeploymentName || findDeployment(env("AZURE_OPENAI_DEPLOYMENT_NAME_MAP"), model.id) || model.id;
}

function findDeployment(map: string | undefined, model: string): string | undefined {
  for (const entry of map?.split(",") ?? []) {
    const [id = "", deployment = ""] = entry.split("=").map((part) => part.trim());
    if (id === model && deployment) return deployment;
  }
  return undefined;
}
