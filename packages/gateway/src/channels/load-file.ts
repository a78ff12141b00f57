/** Loads the files of messages. One that cannot be loaded becomes a text that says so: the message is worth more than its file. */
import { getErrorMessage } from "@tau/ai/internal";
import type { ChannelFile } from "@tau/extensions";

/** `load` rejects with the reason. */
export async function loadFile(
  { name, mimeType }: Pick<ChannelFile, "name" | "mimeType">,
  load: () => Promise<Uint8Array>,
): Promise<ChannelFile> {
  try {
    return { name, mimeType, bytes: await load() };
  } catch (error) {
    return createMissingFile(name, getErrorMessage(error));
  }
}

/** Creates what takes the place of a file that was not loaded. */
export function createMissingFile(name: string, reason: string): ChannelFile {
  const text = `The file ${JSON.stringify(name)} was not loaded: ${reason}\n`;
  return { name: `${name}.not-loaded.txt`, mimeType: "text/plain", bytes: Buffer.from(text) };
}
