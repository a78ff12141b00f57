/** Methods about schedules and their runs. */
import { decimal, list, nonEmptyText, optional, wholeNumber } from "@tau/config/fields";
import { withoutUndefined } from "@tau/ai/internal";
import type { ScheduleParams } from "@tau/protocol/gateway";
import type { Conversation } from "../channels/records.ts";
import { GatewayError } from "../errors.ts";
import { resolveDirectory } from "../sessions/session-roots.ts";
import { here, method, type MethodContext, type SomeMethods } from "./method.ts";

const text = optional(nonEmptyText);
const id = { id: nonEmptyText };

const draftFields = {
  at: text,
  every: text,
  cron: text,
  timeZone: text,
  prompt: nonEmptyText,
  name: text,
  cwd: text,
  agent: text,
  model: text,
  policy: text,
  tools: optional(list(nonEmptyText)),
  channel: text,
  maxTokens: optional(wholeNumber({ min: 1, unit: "tokens" })),
  maxCost: optional(decimal({ min: 0, unit: "US dollars" })),
};

export const scheduleMethods = {
  "schedules.list": method(here, {}, async ({ parts }) => ({ schedules: await parts.schedules.list() })),
  "schedules.add": method(here, draftFields, (context, params) => add(context, params as ScheduleParams)),
  "schedules.remove": method(here, id, async ({ parts }, params) => {
    await parts.schedules.remove(params.id);
    return null;
  }),
  "schedules.pause": method(here, id, async ({ parts }, params) => {
    await parts.schedules.pause(params.id);
    return null;
  }),
  "schedules.resume": method(here, id, async ({ parts }, params) => {
    await parts.schedules.resume(params.id);
    return null;
  }),
  "schedules.run": method(here, id, ({ parts }, params) => parts.schedules.run(params.id)),
  "schedules.runs": method(
    here,
    { id: text, limit: optional(wholeNumber({ min: 1, unit: "runs" })) },
    async ({ parts }, params) => ({
      runs: await parts.schedules.listRuns({ scheduleId: params.id, limit: params.limit ?? 50 }),
    }),
  ),
} satisfies SomeMethods;

const pickPlace = ({ accountId, address, peer }: Conversation) => ({ accountId, address, peer });

async function add({ parts, client }: MethodContext, params: ScheduleParams) {
  const { cwd, agent, model, policy, tools, channel, maxTokens, maxCost, ...draft } = params;
  // A client that may change the settings could change the roots too.
  const roots = client.scopes.has("admin") ? ["/"] : parts.sessions.roots;
  const directory = await resolveDirectory(cwd ?? parts.sessions.defaultDirectory, roots);
  const conversation = channel === undefined ? undefined : parts.channels.findLastConversation(channel);
  if (channel !== undefined && !conversation) {
    const message = `Nobody has written to the channel ${JSON.stringify(channel.slice(0, 80))} yet, so there is no conversation for answers.`;
    throw new GatewayError("not_found", message);
  }
  const budget = withoutUndefined({ tokens: maxTokens, cost: maxCost });
  return await parts.schedules.add({
    ...draft,
    cwd: directory,
    rights: withoutUndefined({ policy, tools }),
    ...(Object.keys(budget).length > 0 && { budget }),
    ...(conversation && { conversation: pickPlace(conversation) }),
    ...withoutUndefined({ agent, model }),
  });
}
