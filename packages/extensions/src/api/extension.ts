/** An extension and everything that it registered. The runner works with these, wherever the code of the extension runs. */
import type { ExtensionTrustState } from "@tau/config/trust";
import type {
  CommandDefinition,
  EntryRenderer,
  FlagDefinition,
  MarkdownTransformer,
  MessageRenderer,
  ProviderConfig,
  ShortcutDefinition,
  SourceInfo,
  ToolDefinition,
  ToolRendererResolver,
} from "./api.ts";
import type { ExtensionContext } from "./context.ts";
import type { ChannelType } from "./channel.ts";
import type { VirtualModel } from "./virtual-model.ts";
import type { ExtensionEvent, ExtensionEventName } from "./events.ts";
import type { Waits } from "../runner/waits.ts";

/** How an extension came here, which decides whether it is trusted from the start. */
export type ExtensionOrigin =
  /** Named on the command line. */
  | "flag"
  /** In the user's own directory of extensions, or named in the user's settings. */
  | "user"
  /** In the directories of the project. */
  | "project"
  /** In an installed package. */
  | "package"
  /** A function that the embedding program passed. */
  | "inline"
  /** A feature of tau. */
  | "feature";

/** An extension that was found and is not loaded. */
export interface ExtensionSource {
  /** Stays equal over time: the name of a package, the repository, else the real path. */
  readonly id: string;
  /** The real path of the project whose package it is of; see `TrustedPlace`. */
  readonly project?: string | undefined;
  /** For people. */
  readonly name: string;
  /** The file that is loaded, as a real path. */
  readonly path: string;
  readonly origin: ExtensionOrigin;
  /** The digest of all files that belong to the extension. */
  readonly digest: string;
  /** Whether its files are still those of the digest. Absent: they may have changed. */
  isUnchanged?(): boolean;
  readonly info: SourceInfo;
}

export type AnyHandler = (event: ExtensionEvent, context: ExtensionContext) => unknown;

/**
 * The handlers of an extension. Notifies when they change, so that lists that are made of it need not be made for each
 * event.
 */
class Handlers extends Map<ExtensionEventName, AnyHandler[]> {
  readonly #listeners: (() => void)[] = [];

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  override set(name: ExtensionEventName, handlers: AnyHandler[]): this {
    super.set(name, handlers);
    return this.#changed(this);
  }

  override delete(name: ExtensionEventName): boolean {
    return this.#changed(super.delete(name));
  }

  override clear(): void {
    this.#changed(super.clear());
  }

  #changed<T>(result: T): T {
    for (const listener of this.#listeners) listener();
    return result;
  }
}

/** Everything that an extension registered, in the order in which it did. */
export interface Registrations {
  readonly handlers: Handlers;
  readonly tools: Map<string, ToolDefinition>;
  readonly commands: Map<string, CommandDefinition>;
  readonly shortcuts: Map<string, ShortcutDefinition>;
  readonly flags: Map<string, FlagDefinition>;
  readonly messageRenderers: Map<string, MessageRenderer>;
  readonly entryRenderers: Map<string, EntryRenderer>;
  readonly toolRenderers: ToolRendererResolver[];
  readonly markdownTransformers: MarkdownTransformer[];
  readonly providers: Map<string, ProviderConfig>;
  readonly mcpServers: Map<string, Record<string, unknown>>;
  /** Types of channels, by their names. */
  readonly channels: Map<string, ChannelType>;
  /** By `provider/id`. */
  readonly virtualModels: Map<string, VirtualModel>;
  /** Names of events that there are not, for which it has handlers that are never called. */
  readonly unknownEvents: Set<string>;
}

export interface Extension extends Registrations {
  readonly source: ExtensionSource;
  /** `killed` once a rule has turned it off. */
  readonly state: ExtensionTrustState;
  /** Where its code runs. */
  readonly host: "process" | "isolated";
  /** Measures what it waits for, which is not work of its handlers. */
  readonly waits: Waits;
  /** There is a session now: what could not be asked before is asked. Absent: there is nothing to ask. */
  begin?(): Promise<void>;
  /** Ends what runs of it. */
  close(): Promise<void>;
}

export const createRegistrations = (): Registrations => ({
  handlers: new Handlers(),
  tools: new Map(),
  commands: new Map(),
  shortcuts: new Map(),
  flags: new Map(),
  messageRenderers: new Map(),
  entryRenderers: new Map(),
  toolRenderers: [],
  markdownTransformers: [],
  providers: new Map(),
  virtualModels: new Map(),
  mcpServers: new Map(),
  channels: new Map(),
  unknownEvents: new Set(),
});

/** Something that is wrong with an extension, in whole sentences for the user. */
export interface ExtensionProblem {
  /** The name or path of the extension. */
  readonly extension: string;
  readonly message: string;
}
