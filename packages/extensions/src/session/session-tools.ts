/** The tools of a session beyond those that it was given: which of them requests list, and which a search finds. */
import type { Clock } from "@tau/ai";
import { untilTimeout } from "@tau/ai/internal";
import type { Settings } from "@tau/config/settings";
import { isServerTool } from "@tau/policy/internal";
import type { PipelineTool } from "../pipeline/layer.ts";
import type { ExtensionSlot } from "./extension-slot.ts";
import type { FoundTool, ReachedTools } from "./found-tool.ts";
import type { SessionFeatures } from "./session-features.ts";
import { createReach, type ReachRules, resolveDiscoveryMode } from "./tool-reach.ts";

interface SessionToolsParts {
  features: SessionFeatures;
  slot: ExtensionSlot;
  getSettings: () => Settings;
  clock: Clock;
}

const maxFindMs = 5_000;
/** More names would only make each request longer. */
const maxKinds = 20;

export class SessionTools {
  readonly #parts: SessionToolsParts;
  #finding: Promise<void> | undefined;

  constructor(parts: SessionToolsParts) {
    this.#parts = parts;
  }

  list(rules: Pick<ReachRules, "names" | "canSearch">): ReachedTools {
    const { features, slot, getSettings } = this.#parts;
    const mode = resolveDiscoveryMode(getSettings());
    const own = features.listTools(createReach({ ...rules, mode, hasManyTools: false }));
    const others = slot.current?.listTools({ ...rules, mode });
    if (!others) return own;
    return { listed: [...own.listed, ...others.listed], found: [...own.found, ...others.found] };
  }

  /** Whether an extension has a tool that is used instead of a feature's. */
  isReplaced(name: string): boolean {
    return this.#parts.slot.current?.isReplaced(name) ?? false;
  }

  /**
   * Says what can be found, in a few words for each feature and extension; empty if nothing can. Decided from the configuration,
   * not from what runs. `owners` have tools now; `mayFindMore`: the session may use tools that are not there yet.
   */
  describeKinds(owners: readonly FoundTool["owner"][], { mayFindMore }: { mayFindMore: boolean }): string[] {
    const finds = new Map(this.#parts.features.listFinds().map(({ feature, kind }) => [feature, kind]));
    const known = owners.map(({ kind, name }) => (kind === "feature" ? (finds.get(name) ?? name) : name));
    const more = mayFindMore && this.#mayFind ? [...finds.values(), ...this.#listFinders()] : [];
    return [...new Set([...more, ...known])].slice(0, maxKinds);
  }

  get #mayFind(): boolean {
    return resolveDiscoveryMode(this.#parts.getSettings()) !== "off";
  }

  /** The extensions that may find tools. A feature says so before it is loaded. */
  #listFinders(): string[] {
    const { features, slot } = this.#parts;
    return slot.current?.listHandlers("tools_discover").filter((name) => !features.isFeature(name)) ?? [];
  }

  /** See `SessionFeatures.describeForFound`. */
  describeForFound(tool: PipelineTool, kinds: readonly string[]): PipelineTool {
    return this.#parts.features.describeForFound(tool, kinds);
  }

  /** Finds the tools that requests list by name, or because nothing is searched for, when a session opens. */
  async findListed(names: readonly string[]): Promise<void> {
    if (!this.#mayFind || names.some(isServerTool)) await this.find({ starts: false });
  }

  /**
   * Lets features and extensions register what they find. Resolves after 5 seconds at the latest: what comes later is there for
   * the next search. `starts`: see `ExtensionSlot.add`. Never rejects.
   */
  async find({ starts }: { starts: boolean } = { starts: true }): Promise<void> {
    this.#finding ??= this.#find(starts).finally(() => (this.#finding = undefined));
    await untilTimeout(this.#finding, maxFindMs, this.#parts.clock);
  }

  async #find(starts: boolean): Promise<void> {
    const { features, slot } = this.#parts;
    await features.loadFinders(starts);
    if (slot.current?.has("tools_discover")) await slot.current.emit({ type: "tools_discover" });
  }
}
