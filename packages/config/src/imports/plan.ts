/** Decides what of the found items is brought, so that nothing is overwritten. Pure. */
import { isDeepStrictEqual } from "node:util";
import { isRecord } from "@tau/ai/internal";
import { HarnessError } from "@tau/protocol";
import { getEntryId } from "../installs/locate-source.ts";
import { parseProvider } from "../models/models-file.ts";
import type { FoundItem, ImportAction, ImportTool } from "./found-item.ts";
import { toolTitles } from "./tool-locations.ts";

type JsonFile = Extract<ImportAction, { kind: "add" }>["file"];

/** Describes what is here already. */
export interface ExistingItems {
  /** The user's own settings file. */
  settings: Readonly<Record<string, unknown>>;
  files: Readonly<Record<JsonFile, Readonly<Record<string, unknown>>>>;
  /** The paths in the agent directory that exist. A directory with any context file has all of their names. */
  paths: ReadonlySet<string>;
  /** The ids of the user's packages. */
  packages: ReadonlySet<string>;
  /** The providers with a stored key or login. */
  credentials: ReadonlySet<string>;
  /** The actions that keys can be bound to. */
  keybindings: ReadonlySet<string>;
}

/** An item that is brought. */
export type ImportStep = FoundItem & { action: Exclude<ImportAction, { kind: "none" }> };

/** An item that is not brought; the reason completes a sentence that begins with its name. */
export interface LeftItem extends Omit<FoundItem, "action"> {
  /** `present`: it is here already, so that nobody needs to read about it. */
  why: "present" | "cannot" | "not asked";
  reason: string;
}

export interface ImportPlan {
  steps: ImportStep[];
  left: LeftItem[];
}

export interface PlanOptions {
  /** Whose keys and logins are brought: a program, or one of its providers as `tool/provider`. */
  keys: readonly string[];
}

export function planImport(items: readonly FoundItem[], existing: ExistingItems, { keys }: PlanOptions): ImportPlan {
  const plan: ImportPlan = { steps: [], left: [] };
  for (const item of items) {
    const refusal = refuse(item, { existing, keys, steps: plan.steps });
    if (!refusal) plan.steps.push(item as ImportStep);
    else {
      const { action: _, ...rest } = item;
      plan.left.push({ ...rest, ...refusal });
    }
  }
  return plan;
}

type Refusal = Pick<LeftItem, "why" | "reason">;

interface PlanState extends PlanOptions {
  existing: ExistingItems;
  /** The items that are brought before it. */
  steps: readonly ImportStep[];
}

const cannot = (reason: string): Refusal => ({ why: "cannot", reason });
const present = (reason: string): Refusal => ({ why: "present", reason });
const takenBy = ({ tool }: FoundItem): Refusal => cannot(`comes from ${toolTitles[tool]} already`);

function refuse(item: FoundItem, state: PlanState): Refusal | undefined {
  const { action } = item;
  switch (action.kind) {
    case "none":
      return cannot(action.reason);
    case "set":
      return refuseSetting(item, action, state);
    case "add":
      return refuseAddition(item, action, state);
    case "copy":
    case "write":
      return refuseFile(action.to, state);
    case "install":
      return refusePackage(getEntryId(action.entry), state);
    case "credential":
      return refuseCredential(item, action.provider, state);
  }
}

/** A model belongs to its provider: of two programs, one sets both. */
const modelSettings = ["defaultProvider", "defaultModel"];

function refuseSetting(
  { tool, path }: FoundItem,
  { key, value }: Extract<ImportAction, { kind: "set" }>,
  { existing, steps }: PlanState,
): Refusal | undefined {
  const keys = modelSettings.includes(key) ? modelSettings : [key];
  const own = getAt(existing.settings, key.split("."));
  if (own !== undefined && isDeepStrictEqual(own, value)) return present("has this value already");
  if (keys.some((each) => getAt(existing.settings, each.split(".")) !== undefined))
    return cannot("is set here already");
  const other = steps.find(
    (step) =>
      step.action.kind === "set" &&
      keys.includes(step.action.key) &&
      (step.tool !== tool || step.path !== path || step.action.key === key),
  );
  const isSame =
    other?.action.kind === "set" && other.action.key === key && isDeepStrictEqual(other.action.value, value);
  return isSame ? present(`is the same in ${toolTitles[other.tool]}`) : other && takenBy(other);
}

function refuseAddition(
  { kind, name, tool }: FoundItem,
  { file, to, value }: Extract<ImportAction, { kind: "add" }>,
  { existing, steps }: PlanState,
): Refusal | undefined {
  if (["__proto__", "constructor", "prototype"].includes(to.at(-1)!)) return cannot("has a name that is not allowed");
  // Only pi has values that are commands, and has run them.
  if (file === "mcp.json" && tool !== "pi" && hasCommand(value))
    return cannot("has a value that begins with !, which would be a command here");
  if (kind === "keybindings" && !existing.keybindings.has(name)) return cannot("is an action that tau does not have");
  if (kind === "models") {
    const problem = findProviderProblem(name, value);
    if (problem !== undefined) return cannot(problem);
  }
  const own = getAt(existing.files[file], to);
  if (own !== undefined)
    return isDeepStrictEqual(toPlain(own), toPlain(value))
      ? present("is here already")
      : cannot("is here already, with other content");
  const other = steps.find(
    (step) => step.action.kind === "add" && step.action.file === file && isDeepStrictEqual(step.action.to, to),
  );
  const isSame = other?.action.kind === "add" && isDeepStrictEqual(toPlain(other.action.value), toPlain(value));
  return isSame ? present(`is the same in ${toolTitles[other.tool]}`) : other && takenBy(other);
}

function hasCommand(value: unknown): boolean {
  if (typeof value === "string") return value.startsWith("!");
  return typeof value === "object" && value !== null && Object.values(value).some(hasCommand);
}

function findProviderProblem(name: string, value: unknown): string | undefined {
  try {
    parseProvider(name, value);
    return undefined;
  } catch (error) {
    if (!(error instanceof HarnessError)) throw error;
    return `cannot be used: ${error.message.replace(/^The provider .*? cannot be used\. /, "")}`;
  }
}

function refuseFile(to: string, { existing, steps }: PlanState): Refusal | undefined {
  if (existing.paths.has(to)) return present("is here already; it is not replaced");
  const other = steps.find(({ action }) => (action.kind === "copy" || action.kind === "write") && action.to === to);
  return other && takenBy(other);
}

function refusePackage(id: string | undefined, { existing, steps }: PlanState): Refusal | undefined {
  if (id === undefined) return cannot("is not the source of a package");
  if (existing.packages.has(id)) return present("is installed already");
  const other = steps.find(({ action }) => action.kind === "install" && getEntryId(action.entry) === id);
  return other && takenBy(other);
}

function refuseCredential(
  { tool }: FoundItem,
  provider: string,
  { existing, keys, steps }: PlanState,
): Refusal | undefined {
  if (!isAsked(tool, provider, keys)) {
    return { why: "not asked", reason: `is brought only if you name it: --keys ${tool}/${provider}` };
  }
  if (existing.credentials.has(provider)) return cannot("has a key or a login here already");
  const other = steps.find(({ action }) => action.kind === "credential" && action.provider === provider);
  return other && takenBy(other);
}

const isAsked = (tool: ImportTool, provider: string, keys: readonly string[]): boolean =>
  keys.includes(tool) || keys.includes(`${tool}/${provider}`);

const getAt = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (inner, name) => (isRecord(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined),
    value,
  );

/** Objects without a prototype equal others. */
const toPlain = (value: unknown): unknown => JSON.parse(JSON.stringify(value)) as unknown;
