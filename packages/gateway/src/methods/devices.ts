/** Methods about who may connect. */
import { list, nonEmptyText, oneOf, optional } from "@tau/config/fields";
import { gatewayScopes } from "@tau/protocol/gateway";
import { GatewayError } from "../errors.ts";
import { here, method, type SomeMethods } from "./method.ts";

export const devicesMethods = {
  "devices.list": method(here, {}, ({ parts }) => ({ devices: [...parts.devices.list(), ...parts.pairing.list()] })),
  "devices.approve": method(
    here,
    { code: nonEmptyText, scopes: optional(list(oneOf(...gatewayScopes))), name: optional(nonEmptyText) },
    ({ parts, client }, params) => parts.pairing.approve({ ...params, approver: client.scopes }),
  ),
  "devices.revoke": method(here, { deviceId: nonEmptyText }, async ({ parts }, { deviceId }) => {
    if (parts.pairing.cancel(deviceId) || (await parts.devices.revoke(deviceId))) return null;
    throw new GatewayError("not_found", `There is no device ${JSON.stringify(deviceId.slice(0, 80))}.`);
  }),
} satisfies SomeMethods;
