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

/** How often something happened in an account since the gateway was started. */
export interface ChannelCountsData {
  /** Messages that the platform reported, also of people who are not paired; one that it reports twice is counted twice. */
  received: number;
  /** Replies that were delivered. */
  sent: number;
  /** Replies that were given up because they were certainly not delivered. */
  refused: number;
  /** Replies that may not have been delivered. */
  uncertain: number;
  /** How often it was connected again after the connection was lost. */
  reconnects: number;
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
