/** Webhooks: other programs tell an agent that something has happened. */
import { randomBytes } from "node:crypto";
import { ownDeviceId } from "@tau/protocol/node";
import { isSameSecret } from "../auth/token.ts";
import type { Client } from "../client.ts";
import { GatewayError } from "../errors.ts";
import { getDigest } from "../idempotency/call-once.ts";
import type { GatewayParts } from "../parts.ts";
import { createHttpClient } from "../server/http-client.ts";
import type { OpenRoute } from "../server/route.ts";
import { acceptAnywhere } from "./accept-anywhere.ts";
import { decodePayload, formatHookMessage } from "./hook-message.ts";
import { findHookSession } from "./hook-session.ts";
import { findHookToken } from "./hook-token.ts";

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
        const right = findHookToken(parts.getSettings().hooks, name, parts.devices.get(ownDeviceId)?.token);
        return right !== undefined && isSameSecret(right, token);
      });
    },
    run: async ({ parts, names, headers, body, response }) => {
      const { name = "" } = names;
      const payload = decodePayload(body as Buffer);
      const key = headers["idempotency-key"];
      const client = createHttpClient({ connectionId: parts.ids(), deviceId: `hook ${name}`, scopes: [] }, response);
      const work = () => acceptPayload({ parts, client }, name, payload);
      return { status: 202, body: key === undefined ? await work() : await once(parts, { name, key, payload }, work) };
    },
  },
];

async function acceptPayload(context: { parts: GatewayParts; client: Client }, name: string, payload: string) {
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
    origin: { kind: "scheduled", scopes: [] },
  });
  return { messageId, sessionId };
}

async function once(
  parts: GatewayParts,
  { name, key, payload }: { name: string; key: string | string[]; payload: string },
  work: () => Promise<unknown>,
): Promise<unknown> {
  if (typeof key !== "string" || key === "" || key.length > maxKeyLength) {
    const text = `idempotency-key has to be sent once, with 1 to ${maxKeyLength} characters.`;
    throw new GatewayError("invalid_parameters", text);
  }
  return await parts.idempotencyKeys.once(`hook ${name}\n${key}`, getDigest({ name, payload }), work);
}
