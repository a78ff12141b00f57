/** The environment of commands inside the sandbox. Pure. */
import { getCacheVariables } from "./package-caches.ts";

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

export function toSandboxEnvironment(env: Readonly<Record<string, string>>, cache: string): Record<string, string> {
  const kept = Object.entries(env).filter(([name]) => !withoutMeaning.has(name));
  return { ...Object.fromEntries(kept), ...getCacheVariables(cache) };
}
