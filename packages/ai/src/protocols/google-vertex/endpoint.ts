import { getEnvApiKey } from "../../auth/env-keys.ts";
import type { Model } from "../../model.ts";
import type { Env } from "../../platform/platform.ts";
import { resolveBaseUrl } from "../base-url.ts";
import type { GoogleOptions } from "../google-generative-ai/options.ts";
import { type AuthContext, MissingCredentials } from "../protocol.ts";

export interface GoogleVertexOptions extends GoogleOptions {
  /** The Google Cloud project. Default: GOOGLE_CLOUD_PROJECT or GCLOUD_PROJECT. */
  project?: string;
  /** A region such as `us-central1`, or `global`. Default: GOOGLE_CLOUD_LOCATION. */
  location?: string;
}

/** Where the project and the location are looked up. */
type Settings = Pick<AuthContext<GoogleVertexOptions>, "model" | "options" | "env">;

const globalHost = "https://aiplatform.googleapis.com";

/** Locations that span several regions have their own hosts. */
const multiRegions = new Set(["us", "eu"]);

/**
 * The base URL of a request. A custom base URL is kept. With an API key no location is needed, so the global host is
 * used.
 */
export function resolveVertexBaseUrl(model: Model, options: GoogleVertexOptions, env: Env): string {
  if (!model.baseUrl.includes("{location}")) return resolveBaseUrl(model, env);
  if (options.apiKey ?? getEnvApiKey(model.provider, env)) return globalHost;
  const location = requireLocation({ model, options, env });
  if (location === "global") return globalHost;
  if (multiRegions.has(location)) return `https://aiplatform.${location}.rep.googleapis.com`;
  return resolveBaseUrl(model, (name) => (name === "location" ? location : env(name)));
}

/** The URL with project and location in its path. A URL that already has a project is returned unchanged. */
export function addProject(url: string, settings: Settings): string {
  if (url.includes("/projects/")) return url;
  const index = url.lastIndexOf("/publishers/");
  const project = encodeURIComponent(requireProject(settings));
  const location = encodeURIComponent(requireLocation(settings));
  return `${url.slice(0, index)}/projects/${project}/locations/${location}${url.slice(index)}`;
}

function requireProject({ options, env, model }: Settings): string {
  const project = options.project ?? env("GOOGLE_CLOUD_PROJECT") ?? env("GCLOUD_PROJECT");
  if (project) return project;
  throw new MissingCredentials(
    `${model.provider} needs a Google Cloud project. Set GOOGLE_CLOUD_PROJECT (in code: the option project); with an API key (GOOGLE_CLOUD_API_KEY) none is needed.`,
  );
}

function requireLocation({ options, env, model }: Settings): string {
  const location = options.location ?? env("GOOGLE_CLOUD_LOCATION");
  if (location) return location;
  throw new MissingCredentials(
    `${model.provider} needs a location. Set GOOGLE_CLOUD_LOCATION to a region such as us-central1, or to global (in code: the option location); with an API key (GOOGLE_CLOUD_API_KEY) none is needed.`,
  );
}
