/** The channels of the gateway: how each account is, who may write, and which replies are not delivered. */
import type { GatewayClient } from "@tau/protocol/client";
import type { ChannelData, ChannelPeerData, ChannelReplyData } from "@tau/protocol/gateway";
import { formatAge } from "@tau/protocol/surface";
import { useEffect, useState } from "preact/hooks";
import { useAttempt } from "../app/attempt.ts";
import { Dialog } from "../app/dialog.tsx";
import { hasScope } from "../app/has-scope.ts";
import { useLoaded } from "../app/loaded.ts";
import { Name } from "../text/name.tsx";
import { toSafeName } from "../text/visible-text.ts";

/** Accounts connect and replies are sent while somebody looks. */
const refreshAfterMs = 2_000;

export function ChannelsPanel({ client, onClose }: { client: GatewayClient; onClose: () => void }) {
  const mayPair = hasScope(client, "pair");
  const mayAdministrate = hasScope(client, "admin");
  const load = async () => {
    const [{ channels }, people, outbox] = await Promise.all([
      client.call("channels.list"),
      mayPair ? client.call("channels.peers") : undefined,
      mayAdministrate ? client.call("channels.outbox", {}) : undefined,
    ]);
    return { channels, peers: people?.peers, replies: outbox?.replies };
  };
  const [loaded, reload] = useLoaded(load, [client, mayPair, mayAdministrate]);
  useEffect(() => {
    const timer = setTimeout(reload, refreshAfterMs);
    return () => clearTimeout(timer);
  }, [loaded]);
  const attempt = useAttempt();
  const act = async (run: () => Promise<unknown>) => {
    const isDone = await attempt.run(run);
    reload();
    return isDone;
  };
  const problem = attempt.problem || (loaded.kind === "failed" ? loaded.message : "");
  const { channels, peers, replies } = loaded.kind === "loaded" ? loaded.value : {};
  const shared = { client, isBusy: attempt.isBusy, act };
  return (
    <Dialog title="Channels" onClose={onClose}>
      {problem !== "" && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <ul class="options" aria-label="Accounts">
        {channels?.map((channel) => (
          <AccountItem key={channel.name} channel={channel} />
        ))}
        {loaded.kind === "loading" && <li class="muted">Loading…</li>}
        {channels?.length === 0 && <li class="muted">There are none. The setting gateway.channels has them.</li>}
      </ul>
      {peers && <People {...shared} peers={peers} />}
      {replies && <Replies {...shared} replies={replies} />}
    </Dialog>
  );
}

function AccountItem({ channel }: { channel: ChannelData }) {
  const { name, type, state, reason, lastMessageAt, waiting, undelivered } = channel;
  const facts = [
    type,
    lastMessageAt !== undefined && `last message ${formatAge(lastMessageAt, Date.now())}`,
    waiting > 0 && `${waiting} to send`,
    undelivered > 0 && `${undelivered} not delivered`,
  ];
  return (
    <li class="device">
      <span>
        <Name text={name} />
        <span class="tag">{state}</span>
        <span class="muted small block">
          <Name text={facts.filter((fact) => fact !== false).join(" · ")} />
        </span>
        {reason !== undefined && (
          <span class="small block">
            <Name text={reason} />
          </span>
        )}
      </span>
    </li>
  );
}

interface SectionProps {
  client: GatewayClient;
  isBusy: boolean;
  /** Resolves with whether it succeeded. */
  act: (run: () => Promise<unknown>) => Promise<boolean>;
}

function People({ client, peers, isBusy, act }: SectionProps & { peers: readonly ChannelPeerData[] }) {
  const [code, setCode] = useState("");
  const pair = async (event: Event) => {
    event.preventDefault();
    if (await act(() => client.call("channels.pair", { code: code.trim() }))) setCode("");
  };
  return (
    <>
      <h3>People</h3>
      <form class="form row-form" onSubmit={(event) => void pair(event)}>
        <input
          placeholder="Code that somebody got"
          aria-label="Code that somebody got"
          value={code}
          required
          autocapitalize="characters"
          spellcheck={false}
          onInput={(event) => setCode(event.currentTarget.value)}
        />
        <button class="button primary" disabled={isBusy}>
          Let in
        </button>
      </form>
      <ul class="options" aria-label="People">
        {peers.map(({ channel, id, name, state, since }) => (
          <li class="device" key={`${channel} ${id} ${state}`}>
            <span>
              <Name text={name} />
              <span class="tag">{state === "pending" ? "has a code" : state}</span>
              <span class="muted small block">
                <Name text={`${id} · ${channel} · ${formatAge(since, Date.now())}`} />
              </span>
            </span>
            {state === "paired" && (
              <button
                class="button danger"
                aria-label={`Unpair ${toSafeName(name)}`}
                disabled={isBusy}
                onClick={() => void act(() => client.call("channels.unpair", { channel, id }))}
              >
                Unpair
              </button>
            )}
          </li>
        ))}
        {peers.length === 0 && <li class="muted">Nobody has written yet.</li>}
      </ul>
    </>
  );
}

function Replies({ client, replies, isBusy, act }: SectionProps & { replies: readonly ChannelReplyData[] }) {
  return (
    <>
      <h3>Replies that are not delivered</h3>
      <ul class="options" aria-label="Replies">
        {replies.map(({ id, channel, to, state, reason, text, recordedAt }) => (
          <li class="device" key={id}>
            <span>
              <span class="cut block">
                <Name text={text} />
                <span class="tag">{state}</span>
              </span>
              <span class="muted small block">
                <Name text={`${channel} · ${to} · ${formatAge(recordedAt, Date.now())}`} />
              </span>
              {reason !== undefined && (
                <span class="small block">
                  <Name text={reason} />
                </span>
              )}
            </span>
            {(state === "refused" || state === "uncertain") && (
              <span class="buttons">
                <button
                  class="button"
                  aria-label={`Send again ${toSafeName(text)}`}
                  disabled={isBusy}
                  onClick={() => void act(() => client.call("channels.resend", { id }))}
                >
                  Send again
                </button>
                <button
                  class="button danger"
                  aria-label={`Drop ${toSafeName(text)}`}
                  disabled={isBusy}
                  onClick={() => void act(() => client.call("channels.drop", { id }))}
                >
                  Drop
                </button>
              </span>
            )}
          </li>
        ))}
        {replies.length === 0 && <li class="muted">Everything is delivered.</li>}
      </ul>
    </>
  );
}
