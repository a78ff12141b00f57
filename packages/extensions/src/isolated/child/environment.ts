/** `process.env` of an extension: a few harmless variables, and for all others a question to the host. */
import { type HostLink, HostcallError } from "./link.ts";

/** A variable is asked for once, and one that is denied looks as if it were not set. */
export function replaceEnvironment(link: HostLink): void {
  const asked = new Map<string, string | undefined>();
  const ask = (name: string): string | undefined => {
    if (!asked.has(name)) asked.set(name, askHost(link, name));
    return asked.get(name);
  };
  process.env = new Proxy(process.env, {
    // What every object has, such as `hasOwnProperty`, is no variable.
    get: (own, name) => (typeof name !== "string" || name in own ? Reflect.get(own, name) : ask(name)),
  });
}

function askHost(link: HostLink, name: string): string | undefined {
  try {
    return link.callSync("env", [name]) as string | undefined;
  } catch (error) {
    if (error instanceof HostcallError) return undefined;
    throw error;
  }
}
