import type { Model } from "../model.ts";
import type { Env } from "../platform/platform.ts";
import { MissingCredentials } from "./protocol.ts";

/** Fills the `{NAME}` placeholders of a model's base URL from the environment; no slash at the end. */
export function resolveBaseUrl(model: Model, env: Env): string {
  const url = model.baseUrl.replace(/\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_placeholder, name: string) => {
    const value = env(name);
    if (value) return encodeURIComponent(value);
    throw new MissingCredentials(`The base URL of ${model.provider} needs ${name}. Set it in the environment.`);
  });
  return url.replace(/\/+$/, "");
}
