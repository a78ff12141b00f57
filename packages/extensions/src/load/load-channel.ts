/** Finds the extension that brings a type of channel. */
import { systemClock } from "@tau/ai";
import type { ChannelType } from "../api/channel.ts";
import type { ExtensionProblem } from "../api/extension.ts";
import { type ExtensionPlace, type ExtensionsParams, hasExtensions } from "./has-extensions.ts";
import { loadWithoutSession } from "./load-without-session.ts";

export interface LoadedChannel {
  readonly type: ChannelType;
  /** Ends the extension. Call it when the channel is not used any more. */
  close(): Promise<void>;
}

interface LoadChannelOptions extends ExtensionPlace {
  /** Reports extensions that cannot be loaded, and what goes wrong in the one that brings the channel. */
  report: (problem: ExtensionProblem) => void;
}

/** Undefined if no extension that is trusted registers this type while it loads. The first that does brings it. */
export async function loadChannelType(
  name: string,
  params: ExtensionsParams,
  { report, ...place }: LoadChannelOptions,
): Promise<LoadedChannel | undefined> {
  if (!hasExtensions(params, place)) return undefined;
  const { extensions, problems } = await loadWithoutSession(params, { ...place, clock: systemClock, report });
  const owner = extensions.find(({ channels }) => channels.has(name));
  const type = owner?.channels.get(name);
  for (const extension of extensions) if (extension !== owner) await extension.close();
  for (const problem of problems) report(problem);
  return owner && type && { type, close: () => owner.close() };
}
