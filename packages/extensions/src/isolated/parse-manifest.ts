/** Reads what the process of an extension says about itself. Nothing of it is taken for granted. Pure. */
import { asRecord, isRecord } from "@tau/ai/internal";
import { capabilities } from "@tau/tools";
import type { Capability } from "@tau/policy";
import type { FlagDefinition } from "../api/api.ts";
import { extensionEventNames } from "../api/events.ts";
import {
  lifecyclePhases,
  type Manifest,
  providerDataKeys,
  type ProviderData,
  type ToolData,
  toolDataKeys,
  type VirtualModelData,
  virtualModelDataKeys,
} from "./manifest.ts";
import { checkVirtualModel } from "../providers/virtual-models.ts";

const maxItems = 500;
const maxNameLength = 200;
const maxTextLength = 100_000;
const maxHandlers = 100;

/** Leaves out what is not valid. Undefined if the whole is none. */
export function parseManifest(value: unknown): Manifest | undefined {
  if (!isRecord(value)) return undefined;
  const declared = value["capabilities"];
  return {
    handlers: parseHandlers(value["handlers"]),
    tools: list(value["tools"], parseTool),
    commands: list(value["commands"], (item) => {
      const name = parseName(item["name"]);
      return name && { name, ...parseDescription(item), completes: item["completes"] === true };
    }),
    shortcuts: list(value["shortcuts"], (item) => {
      const key = parseName(item["key"]);
      return key && { key, ...parseDescription(item) };
    }),
    flags: list(value["flags"], (item) => {
      const name = parseName(item["name"]);
      const flag = parseFlag(asRecord(item["flag"]));
      return name && flag && { name, flag };
    }),
    providers: list(value["providers"], parseProvider),
    virtualModels: list(value["virtualModels"], parseVirtualModel),
    needsTrust: texts(value["needsTrust"]),
    ...(Array.isArray(declared) && { capabilities: declared.filter(isCapability) }),
  };
}

export function parseProvider(item: Record<string, unknown>): Manifest["providers"][number] | undefined {
  const name = parseName(item["name"]);
  if (name === undefined) return undefined;
  return { name, provider: pick(asRecord(item["provider"]), providerDataKeys) as ProviderData };
}

function parseVirtualModel(item: Record<string, unknown>): VirtualModelData | undefined {
  const data = pick(item, virtualModelDataKeys);
  if (![data["provider"], data["id"], data["name"]].every(parseName)) return undefined;
  try {
    const { route: _route, ...model } = checkVirtualModel({ ...data, route: () => undefined });
    return model;
  } catch {
    // It has checked the model itself, so this is not the one that the extension registered.
    return undefined;
  }
}

const isCapability = (value: unknown): value is Capability => (capabilities as readonly unknown[]).includes(value);

function list<T>(value: unknown, parse: (item: Record<string, unknown>) => T | "" | undefined): T[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, maxItems).flatMap((item: unknown) => {
    const parsed = isRecord(item) ? parse(item) : undefined;
    return parsed ? [parsed] : [];
  });
}

const isText = (value: unknown): value is string => typeof value === "string" && value.length <= maxTextLength;
const texts = (value: unknown): string[] => (Array.isArray(value) ? value.slice(0, maxItems).filter(isText) : []);

/** Names are shown, so they have no characters that a terminal would obey. */
const parseName = (value: unknown): string | undefined =>
  isText(value) && value !== "" && value.length <= maxNameLength && !/\p{Cc}/u.test(value) ? value : undefined;

const parseDescription = ({ description }: Record<string, unknown>) => (isText(description) ? { description } : {});

const isIdList = (value: unknown): value is number[] => Array.isArray(value) && value.every(Number.isInteger);

function parseHandlers(value: unknown): Manifest["handlers"] {
  if (!Array.isArray(value)) return [];
  return extensionEventNames.flatMap((name) => {
    const entry: unknown = value.find((item) => Array.isArray(item) && item[0] === name);
    const ids: unknown = Array.isArray(entry) ? entry[1] : undefined;
    return isIdList(ids) && ids.length > 0 && ids.length <= maxHandlers ? [[name, ids] as const] : [];
  });
}

const isFlag = (value: unknown): boolean => typeof value === "boolean";
const isListOf = (check: (value: unknown) => boolean) => (value: unknown) => Array.isArray(value) && value.every(check);
const isGuideline = (value: unknown): boolean =>
  isText(value) || (isRecord(value) && isText(value["text"]) && isListOf(isText)(value["with"]));

/** Fields that the session works with itself; the rest is passed on as it is. */
const toolFields: Partial<Record<(typeof toolDataKeys)[number], (value: unknown) => boolean>> = {
  promptSnippet: isText,
  promptGuidelines: isListOf(isGuideline),
  executionMode: (value) => value === "sequential" || value === "parallel",
  exposure: isText,
  defaultActive: isFlag,
  namespace: (value) => isRecord(value) && isText(value["name"]),
  annotations: isRecord,
  readOnly: isFlag,
  needsApproval: isFlag,
  shows: isText,
  parameterNeeds: (value) => isRecord(value) && Object.values(value).every(isListOf(isText)),
};

function parseTool(item: Record<string, unknown>): Manifest["tools"][number] | undefined {
  const record = asRecord(item["tool"]);
  const data = pick(
    record,
    toolDataKeys.filter((key) => toolFields[key]?.(record[key]) ?? true),
  );
  const name = parseName(data["name"]);
  const { description, parameters, label = name } = data;
  if (!name || !isText(description) || !isRecord(parameters) || !isText(label)) return undefined;
  const phases = texts(item["phases"]);
  return {
    tool: { ...data, name, description, label } as ToolData,
    phases: lifecyclePhases.filter((phase) => phases.includes(phase)),
  };
}

function parseFlag(flag: Record<string, unknown>): FlagDefinition | undefined {
  const { type, default: preset } = flag;
  if (type !== "boolean" && type !== "string") return undefined;
  const hasDefault = typeof preset === type;
  return { ...parseDescription(flag), type, ...(hasDefault && { default: preset }) } as FlagDefinition;
}

function pick(record: Record<string, unknown>, keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(keys.flatMap((key) => (Object.hasOwn(record, key) ? [[key, record[key]] as const] : [])));
}
