/** Where an Azure resource is and what it calls its models, from options and environment. Pure but for `env`. */
import type { OpenAIResponsesOptions } from "../openai-responses/options.ts";
import { type AuthContext, MissingCredentials } from "../protocol.ts";

export interface AzureOptions extends OpenAIResponsesOptions {
  /** Default: `AZURE_OPENAI_BASE_URL`, else the resource's own, else the model's. */
  azureBaseUrl?: string;
  /** The first label of `NAME.openai.azure.com`. Default: `AZURE_OPENAI_RESOURCE_NAME`. */
  azureResourceName?: string;
  /** Default: `AZURE_OPENAI_API_VERSION`, else `v1`. */
  azureApiVersion?: string;
  /** Default: what `AZURE_OPENAI_DEPLOYMENT_NAME_MAP` says (`model=deployment,…`), else the model's id. */
  azureDeploymentName?: string;
}

type Lookup = Pick<AuthContext<AzureOptions>, "model" | "options" | "env">;

/** The whole address, with the API version in its query. Throws `MissingCredentials` when nothing says where. */
export function responsesUrl({ model, options, env }: Lookup): string {
  const resource = options.azureResourceName || env("AZURE_OPENAI_RESOURCE_NAME");
  const base =
    options.azureBaseUrl?.trim() ||
    env("AZURE_OPENAI_BASE_URL")?.trim() ||
    (resource && `https://${resource}.openai.azure.com`) ||
    model.baseUrl;
  if (!base) {
    throw new MissingCredentials(
      "There is no address for Azure OpenAI. Set AZURE_OPENAI_BASE_URL or AZURE_OPENAI_RESOURCE_NAME, or pass azureBaseUrl or azureResourceName.",
    );
  }
  if (!URL.canParse(base)) {
    throw new MissingCredentials(
      `${JSON.stringify(base)} is not an address of Azure OpenAI. Check AZURE_OPENAI_BASE_URL, AZURE_OPENAI_RESOURCE_NAME, azureBaseUrl and azureResourceName; it should look like https://NAME.openai.azure.com.`,
    );
  }
  const url = new URL(base);
  url.pathname = `${basePath(url)}/responses`;
  url.searchParams.set("api-version", options.azureApiVersion || env("AZURE_OPENAI_API_VERSION") || "v1");
  return url.toString();
}

const azureHost = /\.(openai|cognitiveservices|ai)\.azure\.com$/;

/** People paste an endpoint from Azure's portal in several lengths; all of them mean the same API. */
const portalPaths = new Set(["", "/openai", "/openai/v1", "/openai/v1/responses"]);

function basePath(url: URL): string {
  const path = url.pathname.replace(/\/+$/, "");
  return azureHost.test(url.hostname) && portalPaths.has(path) ? "/openai/v1" : path;
}

export function deploymentName({ model, options, env }: Lookup): string {
  return options.azureDeploymentName || mappedDeployment(env("AZURE_OPENAI_DEPLOYMENT_NAME_MAP"), model.id) || model.id;
}

function mappedDeployment(map: string | undefined, model: string): string | undefined {
  for (const entry of map?.split(",") ?? []) {
    const [id = "", deployment = ""] = entry.split("=").map((part) => part.trim());
    if (id === model && deployment) return deployment;
  }
  return undefined;
}
