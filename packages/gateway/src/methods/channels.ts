/** Methods about channels: how they are, who may write, and what is not delivered. */
import { nonEmptyText, optional } from "@tau/config/fields";
import { GatewayError } from "../errors.ts";
import { here, method, type SomeMethods } from "./method.ts";

export const channelMethods = {
  "channels.list": method(here, {}, ({ parts }) => ({ channels: parts.channels.list() })),
  "channels.test": method(here, { channel: nonEmptyText }, async ({ parts }, { channel }) => {
    if (!parts.channels.list().some(({ name }) => name === channel)) throw notFound("channel", channel);
    return await parts.channels.test(channel);
  }),
  "channels.peers": method(here, {}, ({ parts }) => ({ peers: parts.channels.listPeers() })),
  "channels.pair": method(here, { code: nonEmptyText }, ({ parts }, { code }) => parts.channels.pair(code)),
  "channels.unpair": method(here, { channel: nonEmptyText, id: nonEmptyText }, async ({ parts }, { channel, id }) => {
    if (await parts.channels.peers.unpair(channel, id)) return null;
    throw notFound("paired person", id);
  }),
  "channels.outbox": method(here, { channel: optional(nonEmptyText) }, ({ parts }, { channel }) => ({
    replies: parts.channels.listUndelivered().filter((reply) => channel === undefined || reply.channel === channel),
  })),
  "channels.resend": method(here, { id: nonEmptyText }, async ({ parts }, { id }) => {
    if (await parts.channels.outbox.sendAgain(id)) return null;
    throw notFound("refused or uncertain reply", id);
  }),
  "channels.drop": method(here, { id: nonEmptyText }, async ({ parts }, { id }) => {
    if (await parts.channels.outbox.drop(id)) return null;
    throw notFound("refused or uncertain reply", id);
  }),
} satisfies SomeMethods;

const notFound = (what: string, name: string): GatewayError =>
  new GatewayError("not_found", `There is no ${what} ${JSON.stringify(name.slice(0, 80))}.`);
