/** Providers that an extension adds or takes away after it was loaded. */
import { parseProvider } from "../parse-manifest.ts";
import { HostcallFault, type Hostcalls, takeText } from "./hostcall.ts";

/** Nobody chooses a provider by registering it, so neither needs a permission. */
export const providerCalls: Hostcalls = {
  registerProvider: {
    access: () => [],
    run([name, provider], { ports, extension }) {
      const parsed = parseProvider({ name, provider });
      if (!parsed) throw new HostcallFault("invalid_request", "The name of a provider must be a text of one line.");
      ports.providers.registerIsolated(extension, parsed.name, parsed.provider);
    },
  },
  unregisterProvider: {
    access: () => [],
    run: ([name], { ports, extension }) => ports.providers.unregisterIsolated(extension, takeText(name, "The name")),
  },
};
