/** Discord as a type of channels. Its code and its library are loaded when an account is opened. */
import type { ChannelType } from "@tau/extensions";

export const discordType: ChannelType = {
  secrets: { token: "The token of the bot, from the page Bot of https://discord.com/developers/applications" },
  open: async (options) => {
    const token = await options.getSecret("token");
    const { DiscordChannel } = await import("./discord-channel.ts");
    return new DiscordChannel(options, token);
  },
};
