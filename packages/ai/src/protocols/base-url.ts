import type { Model } from "../model.ts";
import type { Env } from "../platform/platform.ts";
import { MissingCredentials } from "./protocol.ts";

/** The model's base URL with its `{NAME}` placeholders filled from the environment, without a trailing slash. */
export function resolveBaseUrl(model: Model, env: Env): string {
  const url = model.baseUrl.replace(/\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_placeholder, name: string) => {
    const value = env(name);
    if (value) return encodeURIComponent(value);
    throw new MissingCredentials(`The base URL of ${model.provider} needs ${name}. Set it in the environment.`);
  });
  return url.replace(/\/+$/, "");
}
