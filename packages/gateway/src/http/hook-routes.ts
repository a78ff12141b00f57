/** Webhooks: other programs report to an agent that something has happened. */
import { randomBytes } from "node:crypto";
import { withoutUndefined } from "@tau/ai/internal";
import type { Client } from "../client.ts";
import { GatewayError } from "../errors.ts";
import { recoverMessage } from "../idempotency/call-once.ts";
import { getDigest } from "../idempotency/digest.ts";
import type { GatewayParts } from "../parts.ts";
import { createHttpClient } from "../server/http-client.ts";
import type { OpenRoute } from "../server/route.ts";
import { acceptAnywhere } from "./accept-anywhere.ts";
import { decodePayload, formatHookMessage } from "./hook-message.ts";
import { findHookSession, getHookDevice } from "./hook-session.ts";
import { findHookToken, isHookToken } from "./hook-token.ts";

const maxKeyLength = 200;

export const hookRoutes: readonly OpenRoute[] = [
  {
    method: "POST",
    path: "/hooks/:name",
    auth: "none",
    body: "any",
    // A webhook that does not exist answers like one whose token is wrong: names are not for guessing.
    check: ({ parts, names, mustHaveToken }) => {
      const { name = "" } = names;
      mustHaveToken((token) => {
        parts.devices.refresh();
        const right = findHookToken(parts.getSettings().hooks, name, () => parts.devices.getOwnToken());
        return isHookToken(right, token);
      });
    },
    run: async ({ parts, names, headers, body, response }) => {
      const { name = "" } = names;
      const payload = decodePayload(body as Buffer);
      const key = headers["idempotency-key"];
      const client = createHttpClient(
        { connectionId: parts.ids(), deviceId: getHookDevice(name), scopes: [] },
        response,
      );
      const hook = { name, payload };
      const accept = (requestKey?: string) => acceptPayload({ parts, client }, hook, requestKey);
      return { status: 202, body: key === undefined ? await accept() : await once(parts, { ...hook, key }, accept) };
    },
  },
];

async function acceptPayload(
  context: { parts: GatewayParts; client: Client },
  { name, payload }: { name: string; payload: string },
  requestKey: string | undefined,
) {
  const { parts } = context;
  const hook = parts.getSettings().hooks[name];
  if (!hook) throw new GatewayError("not_found", `There is no webhook ${name} any more.`);
  const sessionId = await findHookSession(parts, name, hook);
  const mark = randomBytes(12).toString("hex");
  const { messageId } = await acceptAnywhere(context, {
    sessionId,
    text: formatHookMessage({ name, prompt: hook.prompt, payload, mark }),
    isVerbatim: true,
    mode: "followup",
    // Tools that ask for a scope are not for strangers.
    origin: { kind: "scheduled", deviceId: context.client.deviceId, scopes: [] },
    ...withoutUndefined({ requestKey }),
  });
  return { messageId, sessionId };
}

async function once(
  parts: GatewayParts,
  { name, key, payload }: { name: string; key: string | string[]; payload: string },
  accept: (requestKey: string) => Promise<unknown>,
): Promise<unknown> {
  if (typeof key !== "string" || key === "" || key.length > maxKeyLength) {
    const text = `idempotency-key has to be sent once, with 1 to ${maxKeyLength} characters.`;
    throw new GatewayError("invalid_parameters", text);
  }
  const requestKey = `hook ${name}\n${key}`;
  return await parts.idempotencyKeys.once(requestKey, {
    body: getDigest({ name, payload }),
    run: () => accept(requestKey),
    recover: () => recoverMessage(parts, requestKey),
  });
}
