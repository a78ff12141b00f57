import type { Settings } from "@tau/config/settings";

/** The part of the user's settings that is for the gateway. */
export type GatewaySettings = Settings["gateway"];
