/** Login with a code that the user types on another device (RFC 8628). */
import { systemClock } from "@tau/ai";
import { sleep } from "@tau/ai/internal";
import { deviceDialect, expired } from "./device-dialects.ts";
import { cancelled } from "./failure.ts";
import { exchangeCode } from "./login-browser.ts";
import type { LoginInteraction } from "./login-interaction.ts";
import { type OAuthPorts, post } from "./oauth-post.ts";
import type { DeviceLogin, OAuthProvider } from "./oauth-provider.ts";
import type { TokenOutcome } from "./oauth-tokens.ts";

interface DeviceRequest {
  provider: OAuthProvider;
  device: DeviceLogin;
  interaction: LoginInteraction;
}

/** Added to the interval when the server answers `slow_down`, as the standard says. */
const slowDownMs = 5_000;

export async function loginWithDevice(request: DeviceRequest, ports: OAuthPorts): Promise<TokenOutcome> {
  const { provider, device, interaction } = request;
  const { clock = systemClock, signal } = ports;
  const dialect = deviceDialect(provider, device);
  const first = await post(dialect.start(), ports);
  if (first.kind === "failed") return first;
  const started = dialect.readStart(first);
  if (started.kind === "failed") return started;
  const { deviceCode: _secret, kind: _kind, ...shown } = started;
  interaction.notify({ type: "device_code", ...shown });
  const deadlineMs = clock.monotonic() + started.lifetimeMs;
  for (let waitMs = started.intervalMs; ;) {
    if ((await sleep(clock, waitMs, signal)) === "aborted") return cancelled();
    if (clock.monotonic() >= deadlineMs) return expired(provider);
    const answer = await post(dialect.poll(started), ports);
    // After a network failure it continues: the code may still be valid when the network is back.
    const poll = answer.kind === "failed" ? answer : dialect.readPoll(answer, clock.now());
    if (poll.kind === "tokens") return poll;
    if (poll.kind === "code") return await exchangeCode(provider, poll.fields, ports);
    if (poll.kind === "failed" && poll.failure.kind !== "network") return poll;
    if (poll.kind === "pending") continue;
    waitMs = Math.max(waitMs + slowDownMs, poll.kind === "slow_down" ? (poll.intervalMs ?? 0) : 0);
  }
}
