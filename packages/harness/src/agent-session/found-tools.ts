/** The tools of a session that requests do not list: a model finds them with a search and calls them by name. */
import type { AgentTool } from "@tau/agent";
import type { ToolCall } from "@tau/ai";
import type { ToolInfo } from "@tau/extensions";
import {
  type FoundTool,
  type GivenTool,
  isEveryTool,
  type PipelineTool,
  type SessionTools,
  wireSchema,
} from "@tau/extensions/internal";
import { buildTools, type ToolsInput } from "./tools-and-prompt.ts";

/** Everything that the layers decide on but the tools. */
type FoundInput = Omit<ToolsInput, "base" | "custom" | "requested">;

interface ChoiceInput {
  /** The tools that the session was given. */
  base: readonly GivenTool[];
  custom: readonly GivenTool[];
  /** The tools that a person, an agent file or an extension names. */
  names: readonly string[];
  others: SessionTools;
  /** For what requests list. */
  input: FoundInput;
  /** For what is found: the tools that an extension activates are only those that requests list. */
  foundInput: FoundInput;
}

interface ChosenTools {
  /** The tools that the session was given; those that find and call others only if there may be any. */
  base: readonly GivenTool[];
  /** Tools of extensions and features that requests list too. */
  listed: readonly PipelineTool[];
  /** Lists those that are found. More may be there with each call. */
  getFound: () => readonly FoundTool[];
}

export function chooseTools({ base, custom, names, others, input, foundInput }: ChoiceInput): ChosenTools {
  const finders = base.filter(isForFound);
  const isReplaced = (name: string) => others.isReplaced(name) || custom.some((tool) => tool.name === name);
  const canSearch =
    hasAll(finders) &&
    !finders.some(({ name }) => isReplaced(name)) &&
    buildFound(input, finders).length === finders.length;
  const { listed, found } = others.list({ names, canSearch });
  const kinds = canSearch
    ? others.describeKinds(listUsableOwners(foundInput, found), { mayFindMore: allowsMore(foundInput) })
    : [];
  if (kinds.length === 0) return { base: base.filter((tool) => !isForFound(tool)), listed, getFound: () => [] };
  return {
    base: base.map((tool) => (isForFound(tool) ? others.describeForFound(tool, kinds) : tool)),
    listed,
    getFound: () => others.list({ names, canSearch }).found,
  };
}

/** Whether there is a tool that finds and one that calls: neither is of use without the other. */
const hasAll = (finders: readonly PipelineTool[]): boolean =>
  finders.some(({ callsNamedTool }) => callsNamedTool) && finders.some(({ callsNamedTool }) => !callsNamedTool);

const isForFound = (tool: GivenTool): tool is PipelineTool => "isForFound" in tool && tool.isForFound === true;

/** A list of allowed tools names what requests list, so nothing is left to be found. */
const allowsMore = ({ allowed, resources }: FoundInput): boolean =>
  [allowed, resources.agent?.tools?.only].every((list) => !list || list.some(isEveryTool));

const only = (custom: readonly GivenTool[]) => ({ base: [], requested: [], custom });

/** The extensions and features with at least one tool that the session may use, and that is a reason for a search. */
function listUsableOwners(input: FoundInput, found: readonly FoundTool[]): FoundTool["owner"][] {
  const owners = new Map<string, FoundTool["owner"]>();
  for (const { tool, owner, isFoundBeside } of found) {
    if (isFoundBeside) continue;
    const key = `${owner.kind} ${owner.name}`;
    if (!owners.has(key) && buildFound(input, [tool]).length > 0) owners.set(key, owner);
  }
  return [...owners.values()];
}

function buildFound(input: FoundInput, tools: readonly PipelineTool[]): AgentTool[] {
  const names = new Set(tools.map(({ name }) => name));
  return buildTools({ ...input, ...only(tools) }).filter(({ name }) => names.has(name));
}

/** Schemas of libraries become JSON. One that cannot was left out before. */
function describeForWire({ description, parameters }: AgentTool): Pick<ToolInfo, "description" | "parameters"> {
  const wire = wireSchema(parameters);
  return { description, parameters: wire.kind === "schema" ? wire.schema : {} };
}

/** Describes to the model the tools that can be called although requests do not list them. */
export class FoundTools {
  readonly #others: SessionTools;
  #input: FoundInput | undefined;
  #getFound: ChosenTools["getFound"] = () => [];
  #listed: readonly AgentTool[] = [];
  readonly #called = new Map<string, AgentTool>();

  constructor(others: SessionTools) {
    this.#others = others;
  }

  /** Follows a new list of requests. */
  update(input: FoundInput, listed: readonly AgentTool[], getFound: ChosenTools["getFound"]): void {
    this.#input = input;
    this.#listed = listed;
    this.#getFound = getFound;
  }

  /** Waits for those that have to be looked for, a few seconds at most. */
  async list(): Promise<ToolInfo[]> {
    if (!this.#canCall) return [];
    await this.#others.find();
    const infos = new Map(this.#getFree().map(({ info }) => [info.name, info]));
    return this.listNow().map((tool) => ({ ...infos.get(tool.name)!, ...describeForWire(tool) }));
  }

  /** All tools that can be called now, for those that call others. */
  listNow(): readonly AgentTool[] {
    if (!this.#canCall) return [];
    return buildFound(
      this.#input!,
      this.#getFree().map(({ tool }) => tool),
    );
  }

  /** Builds tools that no list can allow or exclude: they are part of others that it can. */
  build(tools: readonly PipelineTool[]): readonly AgentTool[] {
    const resources = { ...this.#input!.resources, agent: undefined };
    return buildFound({ ...this.#input!, resources, allowed: undefined, excluded: [] }, tools);
  }

  /** Finds the tool of a call. Only for a call that a search can have led to, tools are looked for that are not there yet. */
  async find({ name, via }: ToolCall): Promise<AgentTool | undefined> {
    let tool = this.#findKnown(name);
    if (!tool && via !== undefined && this.#canCall) {
      await this.#others.find();
      tool = this.#findKnown(name);
    }
    if (tool) this.#called.set(name, tool);
    return tool;
  }

  /** The tools that were called, as they were then. */
  get called(): Iterable<AgentTool> {
    return this.#called.values();
  }

  get #canCall(): boolean {
    return this.#listed.some(({ callsNamedTool }) => callsNamedTool);
  }

  /** A tool that requests list has its name. */
  #getFree(): readonly FoundTool[] {
    const taken = new Set(this.#listed.map(({ name }) => name));
    return this.#getFound().filter(({ tool }) => !taken.has(tool.name));
  }

  #findKnown(name: string): AgentTool | undefined {
    if (!this.#canCall) return undefined;
    const renamed = this.#listed.find((tool: AgentTool & Pick<PipelineTool, "aliases">) =>
      tool.aliases?.includes(name),
    );
    if (renamed) return { ...renamed, name };
    const found = this.#getFree().find(({ tool }) => tool.name === name);
    return found && buildFound(this.#input!, [found.tool])[0];
  }
}
