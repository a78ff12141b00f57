import { getTerminalLook } from "../terminal-look.ts";

/** Copies a text. Where the terminal cannot, the sequence that asks it to is written to it. */
export async function copyToClipboard(text: string): Promise<void> {
  if (await getTerminalLook().copy?.(text)) return;
  if (!process.stdout.isTTY) throw new Error("There is no terminal whose clipboard could be used.");
  process.stdout.write(`\u001b]52;c;${Buffer.from(text).toString("base64")}\u0007`);
}
