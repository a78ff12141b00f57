/** `models.json`: providers and models that a person adds or changes. */
import { existsSync, readFileSync } from "node:fs";
import { getModels, getProviders, type Model } from "@tau/ai";
import { getErrorMessage, isRecord } from "@tau/ai/internal";
import { parse, type ParseError, printParseErrorCode } from "jsonc-parser";
import { resolveConfigValue, resolveHeaders } from "../auth/config-value.ts";

type Compat = Record<string, unknown>;

interface ModelConfig {
  id: string;
  name?: string;
  api?: string;
  baseUrl?: string;
  reasoning?: boolean;
  input?: ("text" | "image")[];
  cost?: Partial<Model["cost"]>;
  contextWindow?: number;
  maxTokens?: number;
  headers?: Record<string, string>;
  compat?: Compat;
  thinkingLevelMap?: Record<string, string | null>;
}

export interface ProviderConfig {
  name?: string;
  baseUrl?: string;
  apiKey?: string;
  api?: string;
  headers?: Record<string, string>;
  authHeader?: boolean;
  compat?: Compat;
  models?: ModelConfig[];
  modelOverrides?: Record<string, Partial<ModelConfig>>;
}

export type Providers = Record<string, ProviderConfig>;

/** Throws for a file that is not valid. */
export function readModelsJson(path: string): Providers {
  if (!existsSync(path)) return {};
  const errors: ParseError[] = [];
  const value: unknown = parse(readFileSync(path, "utf8"), errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error) throw new Error(`Failed to parse models.json: ${printParseErrorCode(error.error)}\n\nFile: ${path}`);
  const providers = isRecord(value) ? value["providers"] : undefined;
  if (!isRecord(providers)) throw new Error(`Invalid models.json: there is no object "providers".\n\nFile: ${path}`);
  try {
    for (const [name, config] of Object.entries(providers)) checkProvider(name, config as ProviderConfig);
  } catch (error) {
    throw new Error(`Failed to load models.json: ${getErrorMessage(error)}\n\nFile: ${path}`, { cause: error });
  }
  return providers as Providers;
}

/** Throws for what cannot be used. */
function checkProvider(name: string, config: ProviderConfig): void {
  const { models = [], modelOverrides = {}, baseUrl, headers, compat, apiKey } = config;
  const isBuiltIn = getProviders().includes(name);
  if (models.length === 0) {
    const changes = [baseUrl, headers, compat, apiKey].some((value) => value !== undefined);
    if (changes || Object.keys(modelOverrides).length > 0) return;
    throw new Error(`Provider ${name}: must specify "baseUrl", "headers", "compat", "modelOverrides", or "models".`);
  }
  if (!baseUrl && !isBuiltIn) throw new Error(`Provider ${name}: "baseUrl" is required when defining custom models.`);
  if (!apiKey && !isBuiltIn) throw new Error(`Provider ${name}: "apiKey" is required when defining custom models.`);
  for (const model of models) {
    if (!model.id) throw new Error(`Provider ${name}: model missing "id"`);
    if (!model.api && !config.api && !isBuiltIn) {
      throw new Error(`Provider ${name}, model ${model.id}: no "api" specified. Set at provider or model level.`);
    }
    if (model.contextWindow !== undefined && model.contextWindow <= 0) {
      throw new Error(`Provider ${name}, model ${model.id}: invalid contextWindow`);
    }
    if (model.maxTokens !== undefined && model.maxTokens <= 0) {
      throw new Error(`Provider ${name}, model ${model.id}: invalid maxTokens`);
    }
  }
}

/** The built-in models with the changes of a file, and those that it adds. */
export function mergeModels(providers: Providers): Model[] {
  const names = new Set([...getProviders(), ...Object.keys(providers)]);
  return [...names].flatMap((name) => mergeProvider(name, getModels(name), providers[name]));
}

export function mergeProvider(name: string, builtIn: readonly Model[], config: ProviderConfig | undefined): Model[] {
  if (!config) return [...builtIn];
  const models = new Map(builtIn.map((model) => [model.id, overrideModel(model, config)]));
  const like = builtIn[0];
  for (const entry of config.models ?? []) models.set(entry.id, buildModel(name, entry, config, like));
  return [...models.values()];
}

function overrideModel(model: Model, config: ProviderConfig): Model {
  const override = config.modelOverrides?.[model.id] ?? {};
  const { headers: ownHeaders, compat: ownCompat, cost, thinkingLevelMap, ...fields } = override;
  const headers = { ...model.headers, ...getHeaders(config), ...resolveHeaders(ownHeaders) };
  const compat = mergeCompat(mergeCompat(model.compat as Compat | undefined, config.compat), ownCompat);
  return {
    ...model,
    ...fields,
    id: model.id,
    ...(config.baseUrl !== undefined && { baseUrl: config.baseUrl }),
    ...(cost && { cost: { ...model.cost, ...cost } }),
    ...(thinkingLevelMap && { thinkingLevelMap: { ...model.thinkingLevelMap, ...thinkingLevelMap } }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(compat && { compat }),
  } as Model;
}

function buildModel(provider: string, entry: ModelConfig, config: ProviderConfig, like: Model | undefined): Model {
  const headers = { ...getHeaders(config), ...resolveHeaders(entry.headers) };
  const compat = mergeCompat(config.compat, entry.compat);
  return {
    id: entry.id,
    name: entry.name ?? entry.id,
    api: entry.api ?? config.api ?? like?.api ?? "openai-completions",
    provider,
    baseUrl: entry.baseUrl ?? config.baseUrl ?? like?.baseUrl ?? "",
    reasoning: entry.reasoning ?? false,
    input: entry.input ?? ["text"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, ...entry.cost },
    contextWindow: entry.contextWindow ?? 128_000,
    maxTokens: entry.maxTokens ?? 16_384,
    ...(entry.thinkingLevelMap && { thinkingLevelMap: entry.thinkingLevelMap }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(compat && { compat }),
  } as Model;
}

function getHeaders({ headers, authHeader, apiKey }: ProviderConfig): Record<string, string> {
  const key = authHeader && apiKey !== undefined ? resolveConfigValue(apiKey) : undefined;
  return { ...resolveHeaders(headers), ...(key !== undefined && { Authorization: `Bearer ${key}` }) };
}

/** The routes of a gateway are merged too. */
function mergeCompat(base: Compat | undefined, over: Compat | undefined): Compat | undefined {
  if (!base || !over) return over ?? base;
  const merged: Compat = { ...base, ...over };
  for (const key of ["openRouterRouting", "vercelGatewayRouting"]) {
    if (isRecord(base[key]) && isRecord(over[key])) merged[key] = { ...base[key], ...over[key] };
  }
  return merged;
}
