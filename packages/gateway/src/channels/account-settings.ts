/** The settings of an account with their defaults. Pure. */
import type { GatewaySettings } from "../settings.ts";

type WrittenSettings = GatewaySettings["channels"][string];

/** Settings for which there is always a value. */
interface AccountDefaults {
  readonly type: string;
  readonly enabled: boolean;
  readonly groups: NonNullable<WrittenSettings["groups"]>;
  readonly policy: string;
  readonly stream: boolean;
  readonly reactions: boolean;
  /** See `gateway.channels.*.tools`. */
  readonly tools: readonly string[];
}

export type AccountSettings = Omit<WrittenSettings, keyof AccountDefaults> & AccountDefaults;

const defaults: AccountDefaults = {
  type: "",
  enabled: true,
  groups: "mention",
  policy: "safe",
  stream: true,
  reactions: false,
  tools: ["read", "grep", "find", "ls"],
};

export function resolveAccountSettings(written: WrittenSettings = {}): AccountSettings {
  const { type, enabled, groups, policy, stream, reactions, tools } = written;
  return {
    ...written,
    type: type ?? defaults.type,
    enabled: enabled ?? defaults.enabled,
    groups: groups ?? defaults.groups,
    policy: policy ?? defaults.policy,
    stream: stream ?? defaults.stream,
    reactions: reactions ?? defaults.reactions,
    tools: tools ?? defaults.tools,
  };
}
