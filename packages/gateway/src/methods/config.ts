/** Methods about the settings of the user, and about the gateway itself. */
import { createHash } from "node:crypto";
import { SerialQueue } from "@tau/ai/internal";
import { anyJson, nonEmptyText, optional, wholeNumber } from "@tau/config/fields";
import { nestSetting, type SettingsManager } from "@tau/config/settings";
import { GatewayError } from "../errors.ts";
import { here, method, type SomeMethods } from "./method.ts";

/** Makes one change at a time, each to the settings that the one before has left. */
const changes = new SerialQueue();

export const configMethods = {
  "config.get": method(here, {}, async ({ parts: { settings } }) => {
    await settings.reload();
    return { settings: { ...settings.getGlobal() } as Record<string, unknown>, hash: getHash(settings) };
  }),
  "config.set": method(
    here,
    { key: nonEmptyText, value: optional(anyJson), baseHash: nonEmptyText },
    ({ parts: { settings, lanes } }, { key, value, baseHash }) =>
      changes.add(async () => {
        await settings.reload();
        if (getHash(settings) !== baseHash) {
          const message = "The settings have changed since they were read. Read them again with config.get.";
          throw new GatewayError("conflict", message);
        }
        await settings.update("global", nestSetting(key, value));
        lanes.grant();
        return { hash: getHash(settings) };
      }),
  ),
  "gateway.reload": method(here, {}, ({ parts }) => parts.reload()),
  "logs.tail": method(
    here,
    { limit: optional(wholeNumber({ min: 1, unit: "lines" })), channel: optional(nonEmptyText) },
    ({ parts }, { limit = 200, channel }) => ({
      lines: parts.logs.tail(limit, channel),
    }),
  ),
} satisfies SomeMethods;

const getHash = (settings: SettingsManager): string =>
  createHash("sha256").update(JSON.stringify(settings.getGlobal())).digest("hex");
