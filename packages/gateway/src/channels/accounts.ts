/** The accounts that are open, as the settings say. A change of one does not touch the others. */
import type { Clock } from "@tau/ai";
import { getErrorMessage, SerialQueue } from "@tau/ai/internal";
import type { ChannelLog } from "../log-lines.ts";
import type { GatewaySettings } from "../settings.ts";
import { type AccountSettings, resolveAccountSettings } from "./account-settings.ts";
import type { ChannelCounts } from "./counts.ts";
import type {
  Channel,
  ChannelEvents,
  ChannelPosition,
  ChannelPress,
  ChannelState,
  ChannelType,
  IncomingMessage,
} from "@tau/extensions";

export interface Account {
  readonly accountId: string;
  readonly settings: AccountSettings;
  readonly channel: Channel;
}

/** How an account is, for people. */
export interface AccountHealth {
  readonly accountId: string;
  readonly type: string;
  readonly state: ChannelState;
  /** Milliseconds since the epoch. */
  readonly lastMessageAt?: number;
}

/** A type of channels that is in use until `close` is called. */
interface LoadedType {
  readonly type: ChannelType;
  close?(): Promise<void>;
}

interface AccountsParts {
  /** Loads the code of a platform. Undefined: there is none with this name. */
  loadType: (name: string, accountId: string) => Promise<LoadedType | undefined>;
  getSecret: (accountId: string, name: string) => Promise<string>;
  openPosition: (accountId: string) => ChannelPosition;
  clock: Clock;
  counts: ChannelCounts;
  log: ChannelLog;
}

/** Receives what happens in the accounts. */
export interface AccountEvents {
  onMessage(accountId: string, message: IncomingMessage): Promise<void>;
  onPress(accountId: string, press: ChannelPress): Promise<void>;
  /** Called when replies of the account can be sent. */
  onOpen(accountId: string): void;
}

interface OpenAccount {
  readonly settings: AccountSettings;
  readonly events: AccountEvents;
  readonly closing: AbortController;
  /** The secrets that it was opened with, by their names. */
  readonly secrets: Map<string, string>;
  /** Settles when nothing of the account runs any more. Never rejects. */
  readonly done: Promise<void>;
  channel?: Channel;
  state: ChannelState;
  wasConnected: boolean;
  lastMessageAt?: number;
}

export class ChannelAccounts {
  readonly #parts: AccountsParts;
  readonly #open = new Map<string, OpenAccount>();
  /** Settings are taken one after the other, so that the last ones apply in the end. */
  readonly #changes = new SerialQueue();
  #events: AccountEvents | undefined;

  constructor(parts: AccountsParts) {
    this.#parts = parts;
  }

  /** Undefined while it is not open. */
  find(accountId: string): Account | undefined {
    const { settings, channel } = this.#open.get(accountId) ?? {};
    return settings && channel && { accountId, settings, channel };
  }

  list(): AccountHealth[] {
    return [...this.#open].map(([accountId, { settings, state, lastMessageAt }]) => ({
      accountId,
      type: settings.type,
      state,
      ...(lastMessageAt !== undefined && { lastMessageAt }),
    }));
  }

  /** Opens the accounts of the settings. Nothing is opened before. */
  async start(wanted: GatewaySettings["channels"], events: AccountEvents): Promise<void> {
    this.#events = events;
    await this.apply(wanted);
  }

  /**
   * Opens, closes and opens again what differs from the settings or has another secret now. Resolves with the names of these accounts
   * when what was closed has ended.
   */
  async apply(wanted: GatewaySettings["channels"]): Promise<string[]> {
    return await this.#changes.add(() => this.#apply(wanted));
  }

  async #apply(wanted: GatewaySettings["channels"]): Promise<string[]> {
    const events = this.#events;
    if (!events) return [];
    const next = new Map(Object.entries(wanted).map(([name, written]) => [name, resolveAccountSettings(written)]));
    const closed: string[] = [];
    for (const [accountId, account] of this.#open) {
      const { settings, state } = account;
      const isWanted =
        next.get(accountId)?.enabled === true && JSON.stringify(next.get(accountId)) === JSON.stringify(settings);
      // Whatever an account failed for may be repaired.
      const isKept = isWanted && state.kind !== "failed" && (await this.#hasSameSecrets(accountId, account));
      if (!isKept) closed.push(accountId);
    }
    await Promise.all(closed.map((accountId) => this.#close(accountId)));
    // All are closed meanwhile.
    if (this.#events !== events) return closed;
    const opened = [...next].filter(([accountId, { enabled }]) => enabled && !this.#open.has(accountId));
    for (const [accountId, settings] of opened) this.#start(accountId, settings, events);
    return [...new Set([...closed, ...opened.map(([accountId]) => accountId)])];
  }

  /** A secret that cannot be read now was not replaced. */
  async #hasSameSecrets(accountId: string, { secrets }: OpenAccount): Promise<boolean> {
    for (const [name, secret] of secrets) {
      const stored = await this.#parts.getSecret(accountId, name).catch(() => secret);
      if (stored !== secret) return false;
    }
    return true;
  }

  /** Nothing is opened afterwards. */
  async close(): Promise<void> {
    this.#events = undefined;
    await Promise.all([...this.#open.keys()].map((accountId) => this.#close(accountId)));
    await this.#changes.whenIdle();
  }

  async #close(accountId: string): Promise<void> {
    const account = this.#open.get(accountId);
    this.#open.delete(accountId);
    account?.closing.abort();
    await account?.done;
  }

  #start(accountId: string, settings: AccountSettings, events: AccountEvents): void {
    const closing = new AbortController();
    let begin = (_account: OpenAccount) => {};
    const begun = new Promise<OpenAccount>((resolve) => (begin = resolve));
    const done = begun.then((account) => this.#run(accountId, account));
    const account: OpenAccount = {
      settings,
      events,
      closing,
      secrets: new Map(),
      done,
      state: { kind: "connecting" },
      wasConnected: false,
    };
    this.#open.set(accountId, account);
    begin(account);
  }

  async #run(accountId: string, account: OpenAccount): Promise<void> {
    const { loadType, getSecret, openPosition, clock, counts, log } = this.#parts;
    const { settings, events, closing } = account;
    const setState = (state: ChannelState) => {
      if (state.kind === "connected") {
        if (account.wasConnected && account.state.kind !== "connected") counts.add(accountId, "reconnects");
        account.wasConnected = true;
      }
      account.state = state;
      if (state.kind !== "failed" || closing.signal.aborted) return;
      log(`The channel ${accountId} failed: ${state.reason}`, accountId);
    };
    let loaded: LoadedType | undefined;
    try {
      loaded = await loadType(settings.type, accountId);
      if (!loaded) return setState({ kind: "failed", reason: `There is no channel of the type ${settings.type}.` });
      const channel = await loaded.type.open({
        accountId,
        settings,
        async getSecret(name) {
          const secret = await getSecret(accountId, name);
          account.secrets.set(name, secret);
          return secret;
        },
        clock,
        position: openPosition(accountId),
        log: (line) => log(`${accountId}: ${line}`, accountId),
      });
      account.channel = channel;
      events.onOpen(accountId);
      const received: ChannelEvents = {
        async onMessage(message) {
          account.lastMessageAt = clock.now();
          counts.add(accountId, "received");
          await events.onMessage(accountId, message);
        },
        onPress: (press) => events.onPress(accountId, press),
        onState: setState,
      };
      await channel.run(received, closing.signal);
      // An adapter that gives up has said why.
      const isExplained = closing.signal.aborted || account.state.kind === "failed";
      if (!isExplained) setState({ kind: "failed", reason: "It ended by itself." });
    } catch (error) {
      setState({ kind: "failed", reason: getErrorMessage(error) });
    } finally {
      const warn = (error: unknown) =>
        log(`The channel ${accountId} did not end well: ${getErrorMessage(error)}`, accountId);
      await loaded?.close?.().catch(warn);
    }
  }
}
