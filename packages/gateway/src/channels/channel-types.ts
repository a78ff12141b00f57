/** The platforms that there are. The code of one is loaded when an account of it is configured. */
import type { ChannelType } from "@tau/extensions";

/** Types of channels, by the name that the settings call them. */
export type ChannelTypes = Readonly<Record<string, () => Promise<ChannelType>>>;

export const ownChannelTypes: ChannelTypes = {
  discord: async () => (await import("./discord/discord-type.ts")).discordType,
  slack: async () => (await import("./slack/slack-channel.ts")).slackChannel,
  telegram: async () => (await import("./telegram/telegram-channel.ts")).telegramChannel,
  webhook: async () => (await import("./webhook/webhook-channel.ts")).webhookChannel,
  stdio: async () => (await import("./stdio/stdio-channel.ts")).stdioChannel,
};
