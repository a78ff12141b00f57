import { envApiKey } from "../../auth/env-keys.ts";
import type { Model } from "../../model.ts";
import type { Env } from "../../platform/platform.ts";
import { resolveBaseUrl } from "../base-url.ts";
import type { GoogleOptions } from "../google-generative-ai/options.ts";
import { MissingCredentials } from "../protocol.ts";

export interface GoogleVertexOptions extends GoogleOptions {
  /** The Google Cloud project. Default: GOOGLE_CLOUD_PROJECT or GCLOUD_PROJECT. */
  project?: string;
  /** A region such as `us-central1`, or `global`. Default: GOOGLE_CLOUD_LOCATION. */
  location?: string;
}

/** What a project and a location are looked up in. */
interface Settings {
  model: Model;
  options: GoogleVertexOptions;
  env: Env;
}

const globalHost = "https://aiplatform.googleapis.com";

/** Locations that span several regions have hosts of their own. */
const multiRegions = new Set(["us", "eu"]);

/** Where a request goes. A key alone names no place, so it goes to the global host; a base URL of one's own stays. */
export function vertexBaseUrl(model: Model, options: GoogleVertexOptions, env: Env): string {
  if (!model.baseUrl.includes("{location}")) return resolveBaseUrl(model, env);
  if (options.apiKey ?? envApiKey(model.provider, env)) return globalHost;
  const location = vertexLocation({ model, options, env });
  if (location === "global") return globalHost;
  if (multiRegions.has(location)) return `https://aiplatform.${location}.rep.googleapis.com`;
  return resolveBaseUrl(model, (name) => (name === "location" ? location : env(name)));
}

/** The same URL inside a project. One that names a project already is left as it is. */
export function inProject(url: string, settings: Settings): string {
  if (url.includes("/projects/")) return url;
  const at = url.lastIndexOf("/publishers/");
  const place = `/projects/${encodeURIComponent(vertexProject(settings))}/locations/${encodeURIComponent(vertexLocation(settings))}`;
  return url.slice(0, at) + place + url.slice(at);
}

function vertexProject({ options, env, model }: Settings): string {
  const project = options.project ?? env("GOOGLE_CLOUD_PROJECT") ?? env("GCLOUD_PROJECT");
  if (project) return project;
  throw new MissingCredentials(
    `${model.provider} needs a Google Cloud project. Set GOOGLE_CLOUD_PROJECT, or pass project; with an API key (GOOGLE_CLOUD_API_KEY) none is needed.`,
  );
}

function vertexLocation({ options, env, model }: Settings): string {
  const location = options.location ?? env("GOOGLE_CLOUD_LOCATION");
  if (location) return location;
  throw new MissingCredentials(
    `${model.provider} needs a location. Set GOOGLE_CLOUD_LOCATION to a region such as us-central1, or to global, or pass location; with an API key (GOOGLE_CLOUD_API_KEY) none is needed.`,
  );
}
