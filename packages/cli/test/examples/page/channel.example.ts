import type { ExtensionAPI } from "@tau/extensions";

export default function (tau: ExtensionAPI) {
  tau.registerChannel("board", {
    secrets: { token: "The token of the board" },
    open: async ({ settings: { url }, getSecret }) => {
      const headers = { authorization: `Bearer ${await getSecret("token")}` };
      return {
        limits: { maxTextLength: 2_000, maxFileBytes: 0, provesNonce: false },
        async run(events, signal) {
          events.onState({ kind: "connected" });
          while (!signal.aborted) {
            const answer = await fetch(`${url}/next`, { headers, signal });
            const { id, room, person, text } = (await answer.json()) as Record<string, string>;
            await events.onMessage({
              id: id!,
              address: { channelId: room! },
              peer: { kind: "direct", id: person! },
              sender: { id: person!, name: person! },
              text: text!,
              isMentioned: true,
            });
          }
        },
        async send({ address, text }) {
          const body = JSON.stringify({ room: address.channelId, text });
          const answer = await fetch(`${url}/posts`, { method: "POST", headers, body });
          if (answer.ok) return { kind: "sent", messageId: await answer.text() };
          return { kind: "refused", reason: `The board answered with ${answer.status}.` };
        },
      };
    },
  });
}
