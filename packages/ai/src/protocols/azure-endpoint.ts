/** Resolves the URL and the deployment name of an Azure resource from options and environment. */
import { asRecord } from "../json.ts";
import type { StreamOptions } from "../options.ts";
import type { HttpRequest } from "../transport/http.ts";
import { type AuthContext, MissingCredentials } from "./protocol.ts";

export interface AzureEndpointOptions {
  /** Default: `AZURE_OPENAI_BASE_URL`, else the resource's own, else the model's. */
  azureBaseUrl?: string;
  /** `NAME` in `NAME.openai.azure.com`. Default: `AZURE_OPENAI_RESOURCE_NAME`. */
  azureResourceName?: string;
  /** Default: `AZURE_OPENAI_API_VERSION`, else `v1`. */
  azureApiVersion?: string;
  /** Default: the model's entry in `AZURE_OPENAI_DEPLOYMENT_NAME_MAP` (`model=deployment,…`), else the model's id. */
  azureDeploymentName?: string;
}

type Lookup = Pick<AuthContext<StreamOptions & AzureEndpointOptions>, "model" | "options" | "env">;

/**
 * Addresses a request to the user's Azure resource: sets the URL, and replaces the model's id by the name of its
 * deployment. `path` is that of the API, such as `/responses`. Throws `MissingCredentials` if no base URL is configured.
 */
export const toAzureRequest = (request: HttpRequest, lookup: Lookup, path: string): HttpRequest => ({
  ...withDeployment(request, lookup.model.id, resolveDeploymentName(lookup)),
  url: resolveUrl(lookup, path),
});

/** The request URL, with the API version in its query. */
function resolveUrl({ model, options, env }: Lookup, path: string): string {
  const resource = options.azureResourceName || env("AZURE_OPENAI_RESOURCE_NAME");
  const base =
    options.azureBaseUrl?.trim() ||
    env("AZURE_OPENAI_BASE_URL")?.trim() ||
    (resource && `https://${resource}.openai.azure.com`) ||
    model.baseUrl;
  if (!base) {
    throw new MissingCredentials(
      "There is no base URL for Azure. Set AZURE_OPENAI_BASE_URL or AZURE_OPENAI_RESOURCE_NAME (in code: the option azureBaseUrl or azureResourceName).",
    );
  }
  if (!URL.canParse(base)) {
    throw new MissingCredentials(
      `${JSON.stringify(base)} is not a valid base URL for Azure. Check AZURE_OPENAI_BASE_URL, AZURE_OPENAI_RESOURCE_NAME, azureBaseUrl and azureResourceName; it should look like https://NAME.openai.azure.com.`,
    );
  }
  const url = new URL(base);
  url.pathname = `${resolveBasePath(url)}${path}`;
  url.searchParams.set("api-version", options.azureApiVersion || env("AZURE_OPENAI_API_VERSION") || "v1");
  return url.toString();
}

const azureHost = /\.(openai|cognitiveservices|ai)\.azure\.com$/;

/** Azure's portal shows the endpoint with any of these paths; all of them mean the same API. */
const portalPaths = new Set(["", "/openai", "/openai/v1", "/openai/v1/responses", "/openai/v1/chat/completions"]);

function resolveBasePath(url: URL): string {
  const path = url.pathname.replace(/\/+$/, "");
  return azureHost.test(url.hostname) && portalPaths.has(path) ? "/openai/v1" : path;
}

function resolveDeploymentName({ model, options, env }: Lookup): string {
  return options.azureDeploymentName || findDeployment(env("AZURE_OPENAI_DEPLOYMENT_NAME_MAP"), model.id) || model.id;
}

function findDeployment(map: string | undefined, model: string): string | undefined {
  for (const entry of map?.split(",") ?? []) {
    const [id = "", deployment = ""] = entry.split("=").map((part) => part.trim());
    if (id === model && deployment) return deployment;
  }
  return undefined;
}

/** Replaces the model id by the deployment name, unless an `onPayload` hook has already replaced it. */
function withDeployment(request: HttpRequest, model: string, deployment: string): HttpRequest {
  if (deployment === model) return request;
  const payload = asRecord(JSON.parse(request.body));
  return payload["model"] === model ? { ...request, body: JSON.stringify({ ...payload, model: deployment }) } : request;
}
