/** The settings of channels: accounts on platforms where people talk, and which agent answers whom. */
import type { Field } from "../fields/field.ts";
import { flag, list, nonEmptyText, object, oneOf, optional, url } from "../fields/kinds.ts";
import { group, mapSetting, setting } from "./node.ts";
import { program, workingPath } from "./shape.ts";

const project = "never";
const texts: Field<readonly string[]> = list(nonEmptyText);
const queueMode = oneOf("steer", "followup", "collect", "interrupt");

const account = group("An account on a platform.", {
  type: setting(nonEmptyText, {
    default: "stdio",
    description: "The platform: `discord`, `slack`, `telegram`, `webhook` or `stdio`.",
    project,
  }),
  enabled: setting(flag, { default: true, description: "Whether the gateway connects it.", project }),
  cwd: setting(workingPath, {
    default: undefined,
    description: "The directory of its sessions. Default: one of its own, `channels/NAME` of the agent directory.",
    project,
  }),
  policy: setting(nonEmptyText, {
    default: undefined,
    description: "A profile that makes the policy of its sessions stricter. Default: `safe`.",
    project,
  }),
  tools: setting(texts, {
    default: undefined,
    description:
      "The tools that its sessions have besides those of the channel, by name or pattern; `*` means all. Default: those that only read: `read`, `grep`, `find` and `ls`.",
    project,
  }),
  groups: setting(oneOf("mention", "always", "never"), {
    default: "mention",
    description: "When it answers in conversations with more than two members.",
    project,
  }),
  queue: setting(queueMode, {
    default: undefined,
    description: "What happens to messages during a run. Default: `gateway.queue.mode`.",
    project,
  }),
  stream: setting(flag, {
    default: true,
    description: "Whether answers are shown while they are written, where the platform lets messages be edited.",
    project,
  }),
  reactions: setting(flag, {
    default: false,
    description: "Whether reactions to a message say that it was received, answered, or that the run failed.",
    project,
  }),
  mode: setting(nonEmptyText, {
    default: undefined,
    description:
      "How messages come: for `slack`, `socket` (the default) or `events`; for `telegram`, `polling` (the default) or `webhook`.",
    project,
  }),
  url: setting(url, {
    default: undefined,
    description:
      "For `telegram` by webhook, the public address of `/channels/NAME` of the gateway; for `webhook`, the address that replies are sent to.",
    project,
  }),
  command: setting(program, { default: undefined, description: "The program of a `stdio` channel.", project }),
  args: setting(texts, { default: undefined, description: "The arguments of the program.", project }),
  baseUrl: setting(url, {
    default: undefined,
    description: "Another address of the platform, such as that of a server of your own.",
    project,
  }),
});

type Peer = { kind: "direct" | "group" | "channel" | "thread"; id: string };
type Match = {
  channel: string;
  accountId?: string;
  peer?: Peer;
  guildId?: string;
  roles?: string[];
  teamId?: string;
};

const bindings: Field<readonly { agent: string; match: Match }[]> = list(
  object({
    agent: nonEmptyText,
    match: object({
      channel: nonEmptyText,
      accountId: optional(nonEmptyText),
      peer: optional(object({ kind: oneOf("direct", "group", "channel", "thread"), id: nonEmptyText })),
      guildId: optional(nonEmptyText),
      roles: optional(list(nonEmptyText)),
      teamId: optional(nonEmptyText),
    }),
  }),
);

export const channelSettings = {
  channels: mapSetting(account, {
    by: "a name of yours for the account",
    description: "Accounts on platforms where people talk to agents.",
    project,
  }),
  bindings: setting(bindings, {
    default: [],
    description:
      "Which agent answers which messages of channels. The most specific binding applies whose constraints are all met; of two that are alike, the first.",
    project,
  }),
  defaultAgent: setting(nonEmptyText, {
    default: undefined,
    description: "The agent that answers messages for which there is no binding.",
    project,
  }),
  session: group("Which messages of channels share a session.", {
    scope: setting(oneOf("main", "per-peer", "per-channel-peer", "per-account-channel-peer"), {
      default: "per-account-channel-peer",
      description:
        "Which direct conversations share a session: all of an agent, those with the same id, with the same id on a platform, or on an account. Groups and threads always have their own.",
      project,
    }),
    identityLinks: mapSetting(
      setting(texts, { default: undefined, description: "Identities of one person.", project }),
      {
        by: "a name of yours for the person",
        description:
          "Identities that belong to one person, such as `telegram:4711` and `discord:815`: they share a session.",
        project,
      },
    ),
  }),
};
