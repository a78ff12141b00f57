/** Builds the parts of channels in the order in which they need each other: some before sessions exist, and the rest after. */
import { join } from "node:path";
import type { Clock, Ids } from "@tau/ai";
import { AuthStorage, chooseKeyChain } from "@tau/config/auth";
import type { SettingsManager } from "@tau/config/settings";
import type { ExtensionProblem, ExtensionsParams } from "@tau/extensions";
import { getGatewayFiles } from "@tau/protocol/node";
import { GatewayError } from "../errors.ts";
import type { ChannelLog } from "../log-lines.ts";
import type { OpenSessions } from "../sessions/open-sessions.ts";
import type { OpenText } from "../kept-text.ts";
import type { GatewaySettings } from "../settings.ts";
import { resolveAccountSettings } from "./account-settings.ts";
import { ChannelAccounts } from "./accounts.ts";
import { type ChannelTypes, ownChannelTypes } from "./channel-types.ts";
import { Channels, type ChannelsParts } from "./channels.ts";
import { ChannelCounts } from "./counts.ts";
import { createCopiesInFiles, type FileCopies } from "./file-copies.ts";
import { ChannelOutbox } from "./outbox.ts";
import { ChannelPeers } from "./peers.ts";
import { createSharedPeers, openPeersFile } from "./peers-store.ts";
import { createPosition } from "./position.ts";
import { getChannelSessionParams } from "./session-params.ts";
import type { ChannelStore } from "./store.ts";

interface ChannelPartsOptions {
  agentDir: string;
  settings: SettingsManager;
  /** More types than those of tau. */
  types: ChannelTypes | undefined;
  /** Extensions that may bring more types. Undefined: none. */
  extensions: ExtensionsParams | undefined;
  store: ChannelStore;
  openText: OpenText;
  /** Default: in a directory of the gateway. */
  fileCopies: FileCopies | undefined;
  /** Whether those who may write are kept with the conversations. Default: in a file of their own. */
  keepsPeersInStore: boolean;
  /** Whether another node of a cluster may connect the accounts. */
  isShared: boolean;
  getSettings: () => GatewaySettings;
  clock: Clock;
  ids: Ids;
  log: ChannelLog;
}

export function openChannelParts(options: ChannelPartsOptions) {
  const { agentDir, settings, store, getSettings, clock, ids, log } = options;
  const types: ChannelTypes = { ...ownChannelTypes, ...options.types };
  const { directory } = getGatewayFiles(agentDir);
  const counts = new ChannelCounts();
  const accounts = new ChannelAccounts({
    async loadType(name, accountId) {
      const own = Object.hasOwn(types, name) ? await types[name]?.() : undefined;
      if (own || !options.extensions) return own && { type: own };
      // Only those of the user: no project decides where messages go.
      const place = { cwd: agentDir, agentDir, settings };
      const { loadChannelType } = await import("@tau/extensions");
      const report = ({ extension, message }: ExtensionProblem) => log(`${extension}: ${message}`, accountId);
      return await loadChannelType(name, options.extensions, { ...place, report });
    },
    getSecret: (accountId, name) => getChannelSecret({ agentDir, settings }, accountId, name),
    openPosition: (accountId) => createPosition(options.openText, accountId),
    clock,
    counts,
    log,
  });
  const { fileCopies = createCopiesInFiles(join(directory, "channel-files")) } = options;
  const findChannel = (id: string) => accounts.find(id)?.channel;
  const outbox = new ChannelOutbox({ store, findChannel, fileCopies, clock, counts, log });
  let sessions: OpenSessions | undefined;
  let channels: Channels | undefined;
  const redact = (sessionId: string, text: string) => sessions?.find(sessionId)?.redactLine(text) ?? text;
  const sessionParts = { store, accounts, outbox, getSettings, redact, fileCopies, clock, ids };
  return {
    /** Takes changed accounts. Others stay connected. */
    applySettings: () => accounts.apply(getSettings().channels),
    /** Whether somebody of the session's conversation can be asked. */
    isAttended: (sessionId: string): boolean => {
      const conversation = store.table.getConversation(sessionId);
      // Where questions may wait, people answer in their own time.
      if (!conversation || settings.get().approvals.later) return false;
      // In a cluster a message may be here before the record of it.
      if (!conversation.isExpecting && !channels?.isAnswering(sessionId)) return false;
      const { accountId } = conversation;
      const written = getSettings().channels[accountId];
      const isElsewhere = options.isShared && written !== undefined && resolveAccountSettings(written).enabled;
      return isElsewhere || accounts.find(accountId) !== undefined;
    },
    getSessionParams: (sessionId: string, cwd: string) => getChannelSessionParams(sessionParts, sessionId, cwd),
    open: (
      parts: Pick<ChannelsParts, "inbox" | "requestKeys" | "accept" | "wasAccepted" | "shared" | "runAtSession"> & {
        sessions: OpenSessions;
      },
    ): Channels => {
      sessions = parts.sessions;
      const peersStore = options.keepsPeersInStore ? createSharedPeers(store) : openPeersFile({ directory, ids });
      const peers = new ChannelPeers({ store: peersStore, clock });
      channels = new Channels({ ...parts, ...sessionParts, peers, agentDir, counts, log });
      return channels;
    },
  };
}

/** Names the stored secret of an account, among the credentials of providers. */
export const getSecretName = (accountId: string, name: string): string => `channel-${accountId}-${name}`;

/** Secrets are stored like the keys of providers, never in settings. */
async function getChannelSecret(
  { agentDir, settings }: Pick<ChannelPartsOptions, "agentDir" | "settings">,
  accountId: string,
  name: string,
): Promise<string> {
  const auth = AuthStorage.create(agentDir, { keyChain: chooseKeyChain(() => settings.get()) });
  const outcome = await auth.getApiKey(getSecretName(accountId, name));
  if (outcome.kind === "found") return outcome.key;
  if (outcome.kind === "failed") throw new GatewayError("unavailable", outcome.failure.message);
  throw new GatewayError(
    "unavailable",
    `No ${name} is stored for ${accountId}. Store it with: tau channels login ${accountId}`,
  );
}
