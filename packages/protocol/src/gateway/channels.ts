/** Answers of the methods about channels. */

export interface ChannelData {
  /** The name in the setting `gateway.channels`. */
  name: string;
  /** The platform, such as `discord`. */
  type: string;
  /** `off`: the settings turn it off. */
  state: "off" | "connecting" | "connected" | "waiting" | "failed";
  /** Why it waits or failed. */
  reason?: string;
  lastMessageAt?: string;
  /** Replies that wait, and those that were refused or may not have been delivered. */
  waiting: number;
  undelivered: number;
}

/** A person who may write to the agents of a channel, or who waits with a code. */
export interface ChannelPeerData {
  channel: string;
  id: string;
  name: string;
  state: "paired" | "pending";
  since: string;
}

/** A reply that is not delivered. */
export interface ChannelReplyData {
  id: string;
  channel: string;
  /** The conversation, in the platform's ids. */
  to: string;
  state: "waiting" | "sending" | "uncertain" | "refused";
  reason?: string;
  text: string;
  recordedAt: string;
}
