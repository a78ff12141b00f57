/** The environment of commands inside the sandbox. Pure. */

/** They lead to programs of the user's desktop that cannot be reached inside. */
const withoutMeaning = new Set([
  "SSH_AUTH_SOCK",
  "SSH_AGENT_PID",
  "GPG_AGENT_INFO",
  "DBUS_SESSION_BUS_ADDRESS",
  "XDG_RUNTIME_DIR",
  "WAYLAND_DISPLAY",
  "DISPLAY",
  "XAUTHORITY",
  "DOCKER_HOST",
]);

type Environment = Readonly<Record<string, string>>;

/** `caches`: where package managers keep their caches. */
export function toSandboxEnvironment(env: Environment, caches: Environment): Record<string, string> {
  const kept = Object.entries(env).filter(([name]) => !withoutMeaning.has(name));
  return { ...Object.fromEntries(kept), ...caches };
}

/**
 * Package managers try again after pauses, npm for more than a minute. What is refused stays refused, and the person is
 * asked about it only then.
 */
export const shorterPauses: Environment = {
  PIP_RETRIES: "2",
  CARGO_NET_RETRY: "1",
  npm_config_fetch_retry_mintimeout: "1000",
  npm_config_fetch_retry_maxtimeout: "5000",
};
